import type { Collection, Db } from 'mongodb';
import type { Hex } from 'viem';
import type { HorizonModel } from '../forecast/model.ts';
import { OracleError } from '../platform/errors.ts';
import { isDuplicateKey } from '../platform/mongo.ts';

/** A fitted model as it is kept: what it takes to recompute any forecast made with it. `_id` is the model version. */
export interface ModelDoc {
  _id: string;
  block: number;
  /** One fit a horizon. */
  horizons: HorizonModel[];
  /** Digest of the input frame through the day before the block: everything the fit could have read. */
  trainingDigest: Hex;
  /** Variants tried before this one was fixed. */
  trials: number;
  fittedAt: Date;
}

/** Fitted models, each written once: a version never changes its coefficients. */
export class ModelStore {
  readonly #models: Collection<ModelDoc>;
  readonly #cache = new Map<string, ModelDoc>();

  constructor(db: Db) {
    this.#models = db.collection('models');
  }

  /** @throws OracleError NOT_FOUND for a version that was never fitted here. */
  async get(version: string): Promise<ModelDoc> {
    return this.getOrCreate(version, () => {
      throw new OracleError('NOT_FOUND', `There is no model ${version}`);
    });
  }

  /** The stored model of a version, or the one that `make` fits, which is then stored. The first writer's stands. */
  async getOrCreate(version: string, make: () => ModelDoc): Promise<ModelDoc> {
    const model = this.#cache.get(version) ?? (await this.#models.findOne({ _id: version })) ?? (await this.#insert(make()));
    this.#cache.set(version, model);
    return model;
  }

  async #insert(model: ModelDoc): Promise<ModelDoc> {
    try {
      await this.#models.insertOne(model);
      return model;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return (await this.#models.findOne({ _id: model._id })) as ModelDoc;
    }
  }
}
