import { isDeepStrictEqual } from 'node:util';
import { HORIZONS } from '../../forecast/model.ts';
import { LARGE_READ_BATCH } from '../../platform/mongo.ts';
import {
  ATTESTED_FIELDS,
  type AttestationFigures,
  type AttestedForecast,
  computeAttestationFigures,
} from '../attestations/attestation-figures.ts';
import { type ChallengeFigures, computeChallengeFigures } from '../challenge/challenge-figures.ts';
import { computeRecordSeries, type RecordSeriesPoint } from '../challenge/record-series.ts';
import type { DistributionScoresDoc } from '../distributions/distribution-scores.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ModelStore } from '../model-store.ts';
import type { FiguresStore } from './figures-store.ts';
import { computeHorizonFigures, type HorizonFigures } from './horizon-figures.ts';

/** Changes with what figures contain, so that those stored by an older release are computed again. */
const FIGURES_SHAPE = 2;

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

  /** Of any forecasts of a horizon, in sequence order; not stored. */
  computeSelection(docs: readonly ForecastDoc[], horizonDays: number): Promise<HorizonFigures> {
    const { models, record } = this.#deps;
    return computeHorizonFigures({ models, distributionScores: record.distributionScores }, docs, horizonDays);
  }

  getAttestations(): Promise<AttestationFigures> {
    return this.#get('attestations', () => this.#computeAttestations());
  }

  getChallenge(horizonDays: number): Promise<ChallengeFigures> {
    return this.#get(`challenge:${horizonDays}`, () => this.#computeChallenge(horizonDays));
  }

  /** One point a resolved day, by day. */
  async getSeries(horizonDays: number): Promise<readonly RecordSeriesPoint[]> {
    return (await this.#get(`series:${horizonDays}`, () => this.#computeSeries(horizonDays))).points;
  }

  /** Computes what the newest revision lacks, one after the other. */
  async refresh(): Promise<void> {
    for (const [name, compute] of this.#computations()) await this.#get(name, compute);
  }

  /** Compares the stored figures with a recomputation. @returns the names of those that differed; the next read computes them again */
  async verify(): Promise<string[]> {
    const differing: string[] = [];
    for (const [name, compute] of this.#computations()) {
      if (!isDeepStrictEqual(await this.#get(name, compute), await compute())) differing.push(name);
    }
    if (differing.length > 0) await this.#deps.record.revision.advance();
    return differing;
  }

  /** Every figure by name, in the order of computation; those of a horizon share one read of it, which is dropped before the next. */
  *#computations(): Generator<[name: string, compute: () => Promise<object>]> {
    for (const horizonDays of HORIZONS) {
      const read = once(() => this.#readHorizon(horizonDays));
      yield [`horizon:${horizonDays}`, () => this.#computeHorizon(horizonDays, read)];
      yield [`challenge:${horizonDays}`, () => this.#computeChallenge(horizonDays, read)];
      yield [`series:${horizonDays}`, () => this.#computeSeries(horizonDays, read)];
    }
    yield ['attestations', () => this.#computeAttestations()];
  }

  async #get<Figures extends object>(name: string, compute: () => Promise<Figures>): Promise<Figures> {
    const { store, record } = this.#deps;
    return store.get(name, `${FIGURES_SHAPE}:${await record.revision.read()}`, compute);
  }

  async #computeHorizon(horizonDays: number, read = () => this.#readHorizon(horizonDays)): Promise<HorizonFigures> {
    return this.computeSelection((await read()).docs, horizonDays);
  }

  async #computeChallenge(horizonDays: number, read = () => this.#readHorizon(horizonDays)): Promise<ChallengeFigures> {
    return computeChallengeFigures((await read()).scores, horizonDays);
  }

  async #computeSeries(horizonDays: number, read = () => this.#readHorizon(horizonDays)): Promise<{ points: RecordSeriesPoint[] }> {
    const { docs, scores } = await read();
    return { points: computeRecordSeries(docs, scores) };
  }

  /** All forecasts, and the scores of revealed ones: scores are stored before the reveal, until which they stay hidden. */
  async #readHorizon(horizonDays: number): Promise<{ docs: ForecastDoc[]; scores: DistributionScoresDoc[] }> {
    const { record } = this.#deps;
    const docs = await record.listByHorizon(horizonDays);
    const revealed = new Set(docs.flatMap(({ _id, reveal }) => (reveal === null ? [] : [_id])));
    const scores = await record.distributionScores.listByHorizon(horizonDays);
    return { docs, scores: scores.filter(({ _id }) => revealed.has(_id)) };
  }

  async #computeAttestations(): Promise<AttestationFigures> {
    const { forecasts } = this.#deps.record;
    const options = { projection: ATTESTED_FIELDS, batchSize: LARGE_READ_BATCH };
    const docs = await forecasts.find({ attestation: { $ne: null } }, options).toArray();
    return computeAttestationFigures(docs as AttestedForecast[]);
  }
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= read();
    return value;
  };
}
