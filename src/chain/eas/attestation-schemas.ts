import { decodeAbiParameters, encodeAbiParameters, encodePacked, type Hex, keccak256, parseAbiParameters, zeroAddress } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import {
  type CommitmentOpening,
  DIRECTION_CODES,
  decodeCode,
  encodeName,
  OUTCOME_CODES,
  type OutcomeName,
  requireBytes32,
  requireWholeNumber,
  SIGNAL_CODES,
} from './commitment.ts';

/** EAS schemas: non-revocable, without a resolver. The uid is a hash of the text, so a changed text is a new schema. */
export const EAS_SCHEMAS = {
  prediction:
    'uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata',
  resolution:
    'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome',
} as const;

export type SchemaName = keyof typeof EAS_SCHEMAS;

export const SCHEMA_VERSION = '1';

export interface PredictionData {
  /** Position in the record of this horizon, from 1, without gaps. */
  sequence: number;
  /** Days since 1970-01-01. */
  day: number;
  horizonDays: number;
  /** Whole seconds, as on chain. */
  windowOpensAt: Date;
  resolvesAt: Date;
  commitment: Hex;
  inputsDigest: Hex;
  /** sha2-256 of the public metadata. */
  metadata: Hex;
}

/** Content of a resolution: the opening of the commitment, and the outcome. Prices in US cents. */
export interface ResolutionData extends CommitmentOpening {
  btcAtSignalCents: number;
  btcAtResolutionCents: number;
  returnBps: number;
  outcome: OutcomeName;
}

const PREDICTION_PARAMETERS = parseAbiParameters(EAS_SCHEMAS.prediction);
const RESOLUTION_PARAMETERS = parseAbiParameters(EAS_SCHEMAS.resolution);
const MAX_UINT16 = 2 ** 16 - 1;
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_INT32 = 2 ** 31 - 1;

export function getSchemaUid(name: SchemaName): Hex {
  return keccak256(encodePacked(['string', 'address', 'bool'], [EAS_SCHEMAS[name], zeroAddress, false]));
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodePrediction(data: PredictionData): Hex {
  return encodeAbiParameters(PREDICTION_PARAMETERS, [
    BigInt(requireWholeNumber('sequence', data.sequence)),
    requireWholeNumber('day', data.day, MAX_UINT32),
    requireWholeNumber('horizonDays', data.horizonDays, MAX_UINT16),
    BigInt(requireWholeNumber('windowOpensAt', data.windowOpensAt.getTime() / 1000)),
    BigInt(requireWholeNumber('resolvesAt', data.resolvesAt.getTime() / 1000)),
    requireBytes32('commitment', data.commitment),
    requireBytes32('inputsDigest', data.inputsDigest),
    requireBytes32('metadata', data.metadata),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when the data does not decode under this schema. */
export function decodePrediction(data: Hex): PredictionData {
  const [sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadata] = decodeOrMismatch('prediction', () =>
    decodeAbiParameters(PREDICTION_PARAMETERS, data),
  );
  return {
    sequence: Number(sequence),
    day,
    horizonDays,
    windowOpensAt: new Date(Number(windowOpensAt) * 1000),
    resolvesAt: new Date(Number(resolvesAt) * 1000),
    commitment,
    inputsDigest,
    metadata,
  };
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodeResolution(data: ResolutionData): Hex {
  return encodeAbiParameters(RESOLUTION_PARAMETERS, [
    requireBytes32('salt', data.salt),
    encodeName('signal', SIGNAL_CODES, data.signal),
    encodeName('direction', DIRECTION_CODES, data.direction),
    requireWholeNumber('confidenceBps', data.confidenceBps, MAX_UINT16),
    requireWholeNumber('pUpBps', data.pUpBps, MAX_UINT16),
    BigInt(requireWholeNumber('btcPriceCents', data.btcPriceCents)),
    BigInt(requireWholeNumber('btcAtSignalCents', data.btcAtSignalCents)),
    BigInt(requireWholeNumber('btcAtResolutionCents', data.btcAtResolutionCents)),
    requireWholeNumber('returnBps', data.returnBps, MAX_INT32, -MAX_INT32 - 1),
    encodeName('outcome', OUTCOME_CODES, data.outcome),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when the data does not decode under this schema. */
export function decodeResolution(data: Hex): ResolutionData {
  return decodeOrMismatch('resolution', () => {
    const [salt, signal, direction, confidenceBps, pUpBps, price, atSignal, atResolution, returnBps, outcome] = decodeAbiParameters(
      RESOLUTION_PARAMETERS,
      data,
    );
    return {
      salt,
      signal: decodeCode('signal', SIGNAL_CODES, signal),
      direction: decodeCode('direction', DIRECTION_CODES, direction),
      confidenceBps,
      pUpBps,
      btcPriceCents: Number(price),
      btcAtSignalCents: Number(atSignal),
      btcAtResolutionCents: Number(atResolution),
      returnBps,
      outcome: decodeCode('outcome', OUTCOME_CODES, outcome),
    };
  });
}

function decodeOrMismatch<T>(name: SchemaName, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new OracleError('ATTESTATION_MISMATCH', `The data is not that of a ${name}`, { cause });
  }
}
