import { isDeepStrictEqual } from 'node:util';
import { HORIZONS } from '../../forecast/model.ts';
import {
  ATTESTED_FIELDS,
  type AttestationFigures,
  type AttestedForecast,
  computeAttestationFigures,
} from '../attestations/attestation-figures.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ModelStore } from '../model-store.ts';
import type { FiguresStore } from './figures-store.ts';
import { computeHorizonFigures, type HorizonFigures } from './horizon-figures.ts';

interface RecordFiguresDeps {
  store: FiguresStore;
  record: ForecastRecord;
  models: Pick<ModelStore, 'get'>;
}

/**
 * Figures of the whole record. Each is computed once per revision of the record, by the worker after the step that changed it or by the
 * first process that reads it, and stored, so that a request reads a bounded number of documents.
 */
export class RecordFigures {
  readonly #deps: RecordFiguresDeps;

  constructor(deps: RecordFiguresDeps) {
    this.#deps = deps;
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
    if (differing.length > 0) await this.#deps.record.revision.advance();
    return differing;
  }

  async #get<Figures extends object>(name: string, compute: () => Promise<Figures>): Promise<Figures> {
    const { store, record } = this.#deps;
    return store.get(name, String(await record.revision.read()), compute);
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
