import { isDeepStrictEqual } from 'node:util';
import type { Collection, Db } from 'mongodb';
import { HORIZONS } from '../../forecast/model.ts';
import { createCache } from '../../platform/cache.ts';
import { ignoreDuplicate } from '../../platform/mongo.ts';
import {
  ATTESTED_FIELDS,
  type AttestationFigures,
  type AttestedForecast,
  computeAttestationFigures,
} from '../attestations/attestation-figures.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ModelStore } from '../model-store.ts';
import { computeHorizonFigures, type HorizonFigures } from './horizon-figures.ts';

/** `_id` is `horizon:<days>` or `attestations`. */
interface FiguresDoc {
  _id: string;
  /** Revision of the record that the figures were read at or after. */
  revision: number;
  figures: object;
}

interface RecordFiguresDeps {
  db: Db;
  record: ForecastRecord;
  models: Pick<ModelStore, 'get'>;
}

/** Of the newest revision, and of the one before while requests still read it. */
const MAX_CACHED = 2 * (HORIZONS.length + 1);

/**
 * Figures of the whole record. Each is computed once per revision of the record, by the worker after the step that changed it or by the
 * first process that reads it, and stored, so that a request reads a bounded number of documents.
 */
export class RecordFigures {
  readonly #deps: RecordFiguresDeps;
  readonly #stored: Collection<FiguresDoc>;
  readonly #cache = createCache<object>('record-figures', MAX_CACHED);

  constructor(deps: RecordFiguresDeps) {
    this.#deps = deps;
    this.#stored = deps.db.collection('record_figures');
  }

  getHorizon(horizonDays: number): Promise<HorizonFigures> {
    return this.#get(`horizon:${horizonDays}`, () => this.#computeHorizon(horizonDays));
  }

  getHorizons(): Promise<HorizonFigures[]> {
    return Promise.all(HORIZONS.map((horizonDays) => this.getHorizon(horizonDays)));
  }

  getAttestations(): Promise<AttestationFigures> {
    return this.#get('attestations', () => this.#computeAttestations());
  }

  /** Computes what the newest revision lacks, one after the other. */
  async refresh(): Promise<void> {
    for (const horizonDays of HORIZONS) await this.getHorizon(horizonDays);
    await this.getAttestations();
  }

  /** Compares the stored figures with a recomputation. @returns the names of those that differed; the next read computes them again */
  async verify(): Promise<string[]> {
    const differing: string[] = [];
    for (const horizonDays of HORIZONS) {
      const [stored, computed] = [await this.getHorizon(horizonDays), await this.#computeHorizon(horizonDays)];
      if (!isDeepStrictEqual(stored, computed)) differing.push(`horizon:${horizonDays}`);
    }
    if (!isDeepStrictEqual(await this.getAttestations(), await this.#computeAttestations())) differing.push('attestations');
    if (differing.length > 0) await this.#deps.record.advanceRevision();
    return differing;
  }

  async #get<Figures extends object>(name: string, compute: () => Promise<Figures>): Promise<Figures> {
    const revision = await this.#deps.record.readRevision();
    return (await this.#cache.get(`${name} ${revision}`, () => this.#load(name, revision, compute))) as Figures;
  }

  async #load(name: string, revision: number, compute: () => Promise<object>): Promise<object> {
    const stored = await this.#stored.findOne({ _id: name, revision });
    if (stored !== null) return stored.figures;
    const figures = await compute();
    // A process that computed for a later revision has the `_id`, which makes this a duplicate.
    const older = { _id: name, revision: { $lt: revision } };
    await this.#stored.replaceOne(older, { revision, figures }, { upsert: true }).catch(ignoreDuplicate);
    return figures;
  }

  async #computeHorizon(horizonDays: number): Promise<HorizonFigures> {
    const { record, models } = this.#deps;
    return computeHorizonFigures(models, await record.listByHorizon(horizonDays), horizonDays);
  }

  async #computeAttestations(): Promise<AttestationFigures> {
    const { forecasts } = this.#deps.record;
    const docs = await forecasts.find({ attestation: { $ne: null } }, { projection: ATTESTED_FIELDS }).toArray();
    return computeAttestationFigures(docs as AttestedForecast[]);
  }
}
