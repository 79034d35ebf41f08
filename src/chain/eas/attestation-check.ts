import type { Address, Hex } from 'viem';
import { isOracleError } from '../../platform/errors.ts';
import type { OnChainAttestation } from './attestation-reader.ts';
import { decodePrediction, decodeResolution, type PredictionData, type ResolutionData, type SchemaName } from './attestation-schemas.ts';

/** Expected fields of an attestation; an omitted field is not checked. */
export interface ExpectedAttestation extends Partial<PredictionData>, Partial<ResolutionData> {
  attester?: Address;
  schemaName?: SchemaName;
  refUid?: Hex;
}

export interface FieldCheck {
  field: string;
  /** Text, number, boolean, or ISO 8601 for a time. */
  expected: string | number | boolean | null;
  actual: string | number | boolean | null;
  ok: boolean;
}

/** Always checks `revoked`; compares hex case-insensitively. A field that the attestation's schema lacks is null. */
export function checkAttestation(actual: OnChainAttestation, expected: ExpectedAttestation): FieldCheck[] {
  const { attester, schemaName, refUid, revoked } = actual;
  const actualFields: Record<string, unknown> = { attester, schemaName, refUid, revoked, ...decodeContent(actual) };
  const fields = Object.entries({ revoked: false, ...expected }).filter(([, value]) => value !== undefined);
  return fields.map(([field, value]) => compareField(field, toPlainValue(value), toPlainValue(actualFields[field])));
}

function decodeContent({ schemaName, data }: OnChainAttestation): Partial<PredictionData & ResolutionData> {
  try {
    if (schemaName === 'prediction') return decodePrediction(data);
    return schemaName === 'resolution' ? decodeResolution(data) : {};
  } catch (error) {
    if (isOracleError(error, 'ATTESTATION_MISMATCH')) return {};
    throw error;
  }
}

function compareField(field: string, expected: FieldCheck['expected'], actual: FieldCheck['actual']): FieldCheck {
  return { field, expected, actual, ok: normalizeHex(expected) === normalizeHex(actual) };
}

function toPlainValue(value: unknown): FieldCheck['actual'] {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function normalizeHex(value: FieldCheck['actual']): FieldCheck['actual'] {
  return typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value;
}
