import { type Hex, sha256 } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import { requireBytes32 } from './commitment.ts';

const TAG = 'oracle-quantiles-1';
/** Levels .005 to .995. */
export const DISTRIBUTION_SIZE = 199;
/** Unit of a committed quantile, as a log return. */
export const QUANTILE_UNIT = 1e-6;
const MAX_INT32 = 2 ** 31 - 1;

/** A committed predictive distribution with the salt that opens its digest. */
export interface DistributionOpening {
  /** `YYYY-MM-DD:<h>d`. */
  predictionId: string;
  /** Such as `m1.2026-08-14`. */
  modelVersion: string;
  /** 32 bytes. */
  salt: Hex;
  /** The 199 quantiles, at .005 to .995, of the log return over the horizon, in millionths. */
  quantilesMicro: readonly number[];
}

/**
 * sha2-256 of the ASCII text `oracle-quantiles-1\n<predictionId> <modelVersion>\n`, the salt, and the quantiles as big-endian int32.
 * @throws OracleError INPUT_INVALID naming the field
 */
export function computeDistributionDigest({ predictionId, modelVersion, salt, quantilesMicro }: DistributionOpening): Hex {
  const head = new TextEncoder().encode(`${TAG}\n${predictionId} ${modelVersion}\n`);
  const bytes = new Uint8Array(head.length + 32 + DISTRIBUTION_SIZE * 4);
  bytes.set(head);
  const view = new DataView(bytes.buffer);
  const saltHex = requireBytes32('salt', salt).slice(2);
  for (let index = 0; index < 32; index++) bytes[head.length + index] = Number.parseInt(saltHex.slice(2 * index, 2 * index + 2), 16);
  for (const [index, value] of requireQuantiles(quantilesMicro).entries()) view.setInt32(head.length + 32 + 4 * index, value);
  return sha256(bytes);
}

/** Rounds quantiles of log returns to the committed unit. */
export function toQuantilesMicro(logReturns: readonly number[]): number[] {
  return logReturns.map((value) => Math.max(-MAX_INT32, Math.min(MAX_INT32, Math.round(value / QUANTILE_UNIT))) + 0);
}

export function fromQuantilesMicro(quantilesMicro: readonly number[]): number[] {
  return quantilesMicro.map((value) => value * QUANTILE_UNIT);
}

function requireQuantiles(values: readonly number[]): readonly number[] {
  const isValid = (value: number, index: number) =>
    Number.isInteger(value) && Math.abs(value) <= MAX_INT32 && (index === 0 || value >= values[index - 1]!);
  if (values.length === DISTRIBUTION_SIZE && values.every(isValid)) return values;
  const message = `quantilesMicro: they must be ${DISTRIBUTION_SIZE} ascending whole numbers within 32 bits`;
  throw new OracleError('INPUT_INVALID', message, { field: 'quantilesMicro' });
}
