import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Collection, Db } from 'mongodb';
import type { Hex } from 'viem';
import type { HorizonModel } from '../forecast/model.ts';
import { OracleError } from '../platform/errors.ts';
import { insertOrFind } from '../platform/insert-or-find.ts';

export interface ModelDoc {
  _id: string;
  block: number;
  horizons: HorizonModel[];
  /** Digest of the input frame through the day before the block: all data that the fit could read. */
  trainingDigest: Hex;
  trials: number;
  fittedAt: Date;
}

const digests = new WeakMap<readonly HorizonModel[], Hex>();

/**
 * sha2-256 of the RFC 8785 JSON of all fits: services with the same digest produce the same forecast from the same inputs. Computed once for
 * each model in memory, which never changes.
 */
export function digestCoefficients({ horizons }: Pick<ModelDoc, 'horizons'>): Hex {
  const known = digests.get(horizons);
  if (known !== undefined) return known;
  const digest: Hex = `0x${createHash('sha256')
    .update(canonicalize(horizons) as string)
    .digest('hex')}`;
  digests.set(horizons, digest);
  return digest;
}

/** Fitted models, each written once: a version never changes its coefficients. */
export class ModelStore {
  readonly #models: Collection<ModelDoc>;
  readonly #cache = new Map<string, ModelDoc>();

  constructor(db: Db) {
    this.#models = db.collection('models');
  }

  async get(version: string): Promise<ModelDoc> {
    return this.getOrCreate(version, () => {
      throw new OracleError('NOT_FOUND', `There is no model ${version}`);
    });
  }

  async getOrCreate(version: string, make: () => ModelDoc): Promise<ModelDoc> {
    const model = this.#cache.get(version) ?? (await this.#models.findOne({ _id: version })) ?? (await insertOrFind(this.#models, make()));
    this.#cache.set(version, model);
    return model;
  }
}
