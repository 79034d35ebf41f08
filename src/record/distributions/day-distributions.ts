import { Binary } from 'mongodb';
import { DISTRIBUTION_SIZE, toQuantilesMicro } from '../../chain/eas/distribution-digest.ts';
import type { PredictiveDistribution } from '../../forecast/distribution.ts';
import type { ModelName } from '../../forecast/models/registry.ts';

export type ModelRole = 'champion' | 'challenger';

/** A distribution as committed. It stays hidden until the resolution of its horizon. */
export interface StoredDistribution {
  name: ModelName;
  modelVersion: string;
  /** The quantiles in millionths of the log return, as big-endian int32. */
  quantiles: Binary;
}

/** By horizon in days, the champion first. */
export type DayDistributions = Record<string, StoredDistribution[]>;

/** Which version took part in a day, and why one did not; public at once. */
export interface DayModel {
  name: ModelName;
  role: ModelRole;
  /** Null, like its distributions, for a challenger without a forecast. */
  modelVersion: string | null;
  missingBecause: string | null;
}

export function storeDistribution(name: ModelName, modelVersion: string, distribution: PredictiveDistribution): StoredDistribution {
  const { scale, shift, residualQuantiles } = distribution;
  const bytes = Buffer.alloc(DISTRIBUTION_SIZE * 4);
  const values = toQuantilesMicro(residualQuantiles.map((z) => scale * (z - shift)));
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4);
  return { name, modelVersion, quantiles: new Binary(bytes) };
}

/** In millionths of the log return. */
export function readQuantilesMicro({ quantiles }: Pick<StoredDistribution, 'quantiles'>): number[] {
  const bytes = Buffer.from(quantiles.buffer);
  return Array.from({ length: DISTRIBUTION_SIZE }, (_, index) => bytes.readInt32BE(index * 4));
}
