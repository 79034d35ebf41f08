import { LRUCache } from 'lru-cache';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { orElse } from '../errors.ts';
import { computeMeanInterval, type MeanInterval } from '../forecast/bootstrap.ts';
import { cdf, crps } from '../forecast/distribution.ts';
import { shareOf } from '../forecast/math.ts';
import { HORIZONS } from '../forecast/model.ts';
import { computeMoveSkill, formatMoveVerdict, type MoveSkill } from '../forecast/move-skill.ts';
import {
  computeRecordStatistics,
  publishHorizonRow,
  type RecordStatistics,
  type RecordSummary,
  summarizeRecord,
} from '../forecast/record-statistics.ts';
import { brierScore, selectNonOverlapping } from '../forecast/signal.ts';
import { computeWinRate, type ScoredForecast, type WinRate } from '../forecast/statistics.ts';
import { roundTo } from '../platform/validation.ts';
import { buildRecordSeries, type ChallengeFigures, computeChallengeFigures, type RecordSeries } from './challenge.ts';
import type { DistributionScoresDoc } from './distribution-scores.ts';
import { type ForecastDoc, getReturnFromSignal } from './forecast-doc.ts';
import type { ModelDoc, ModelStore } from './model-card.ts';
import type { RecordProjection } from './projection.ts';
import { computeForecastBrier, computeForecastWinRate, toScoredForecast, toSummaryRow } from './scorecard.ts';
import { toCommittedProbabilities } from './visibility.ts';

const MAX_CACHED_SELECTIONS = 64;

/** Everything that is computed from all forecasts of a horizon, the same for every caller: of unresolved forecasts only the number counts. */
export interface HorizonFigures {
  summary: RecordSummary;
  winRate: WinRate;
  statistics: RecordStatistics;
  brierDifference: MeanInterval | null;
  row: HorizonRow;
  revealedCalls: RevealedCalls;
  byRegime: ReturnType<typeof groupByRegime>;
  byModelVersion: ReturnType<typeof groupByModelVersion>;
  moveSkill: MoveSkill;
  /** The same in one sentence. */
  moveVerdict: string;
  /** Those that a replay made. */
  replayed: number;
}

/** The published statistics of these figures. */
export function toFullStatistics({ summary: { longestWinStreak, ...summary }, brierDifference, statistics }: HorizonFigures) {
  return { ...summary, brierDifference, ...statistics };
}

/** @param docs forecasts of one horizon in sequence order */
async function computeHorizonFigures(
  known: RecordProjection,
  models: ModelStore,
  docs: readonly ForecastDoc[],
  horizonDays: number,
): Promise<HorizonFigures> {
  const rows = docs.map(toSummaryRow);
  const scored = await scoreForecasts(known, models, docs);
  const moveSkill = computeMoveSkill(scored, horizonDays);
  return {
    summary: summarizeRecord(rows, horizonDays),
    winRate: computeWinRate(rows, horizonDays),
    statistics: computeRecordStatistics(scored, horizonDays),
    brierDifference: computeBrierDifference(docs, horizonDays),
    row: buildHorizonRow(docs, horizonDays),
    revealedCalls: countRevealedCalls(docs),
    byRegime: groupByRegime(docs, horizonDays),
    byModelVersion: groupByModelVersion(docs, horizonDays),
    moveSkill,
    moveVerdict: formatMoveVerdict(moveSkill, horizonDays),
    replayed: docs.filter(({ replayed }) => replayed).length,
  };
}

export type ShareRow = ReturnType<typeof buildShareRow>;

export type HorizonRow = ReturnType<typeof buildHorizonRow>;

export function buildShareRow(docs: readonly ForecastDoc[], horizonDays: number) {
  const { n: resolved, independent: dedupedTotal, interval95: accuracyInterval95, ...share } = computeForecastWinRate(docs, horizonDays);
  const { wins, accuracy, effectiveN } = share;
  return { total: docs.length, resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: computeForecastBrier(docs) };
}

export function buildHorizonRow(docs: readonly ForecastDoc[], horizonDays: number) {
  const summary = summarizeRecord(docs.map(toSummaryRow), horizonDays);
  return publishHorizonRow(horizonDays, summary, computeForecastWinRate(docs, horizonDays).effectiveN);
}

/** Calls of the forecasts whose outcome is on chain: of the newest 30, 90 and 365 days, and of all. */
export type RevealedCalls = ReturnType<typeof countRevealedCalls>;

/** Nothing of an unrevealed forecast counts, decided ones included. @param docs forecasts of one horizon in sequence order */
export function countRevealedCalls(docs: readonly ForecastDoc[]) {
  const revealed = docs.flatMap(({ day, reveal, values }) => (reveal === null || values === null ? [] : [{ day, ...values }]));
  const isRepeated = revealed.map(({ day, signal }, index) => {
    const before = revealed[index - 1];
    return before?.day === day - 1 ? before.signal === signal : null;
  });
  const countFrom = (first: number) => {
    const calls = revealed.slice(first);
    const count = (call: 'BUY' | 'SELL' | 'HOLD' | 'UP' | 'DOWN') =>
      calls.filter(({ signal, direction }) => signal === call || direction === call).length;
    const pairs = isRepeated.slice(first).filter((repeated) => repeated !== null);
    return {
      ...{ days: calls.length, buy: count('BUY'), sell: count('SELL'), hold: count('HOLD'), up: count('UP'), down: count('DOWN') },
      sameAsDayBefore: pairs.length === 0 ? null : roundTo(shareOf(pairs, Boolean), 4),
    };
  };
  const countNewest = (days: number) => countFrom(Math.max(0, revealed.length - days));
  return { days30: countNewest(30), days90: countNewest(90), days365: countNewest(365), all: countFrom(0) };
}

export function groupByRegime(docs: readonly ForecastDoc[], horizonDays: number) {
  return [...Map.groupBy(docs, ({ regime }) => regime)]
    .map(([regime, of]) => ({ regime, ...buildShareRow(of, horizonDays) }))
    .toSorted((a, b) => b.total - a.total || (String(a.regime) < String(b.regime) ? -1 : 1));
}

/** Newest model first; expects forecasts in sequence order. */
export function groupByModelVersion(docs: readonly ForecastDoc[], horizonDays: number) {
  return [...Map.groupBy(docs, ({ modelVersion }) => modelVersion)]
    .map(([modelVersion, of]) => ({ modelVersion, ...buildShareRow(of, horizonDays) }))
    .toReversed();
}

/** Brier score of the model minus that of the base rate, in pairs, on non-overlapping windows. */
export function computeBrierDifference(docs: readonly ForecastDoc[], horizonDays: number): MeanInterval | null {
  const revealed = docs.filter(({ reveal, values }) => reveal !== null && values !== null);
  const differences = selectNonOverlapping(revealed, horizonDays).map(({ values, resolution }) => {
    const rose = resolution?.actualDirection === 'UP';
    return brierScore(toCommittedProbabilities(values!).pUp, rose) - brierScore(values!.climatology, rose);
  });
  const interval = computeMeanInterval(differences);
  if (interval === null) return null;
  const { low, high } = interval;
  // With few pairs the interval exceeds the range of a difference.
  return { ...interval, low: low && Math.max(-1, low), high: high && Math.min(1, high) };
}

/** A resolved forecast with its stored scores. */
type StoredScores = ScoredForecast & Pick<ForecastDoc, 'replayed'> & Pick<DistributionScoresDoc, 'move'>;

/** @param models for the distributions of forecasts of before those were committed and their scores stored */
export async function scoreForecasts(known: RecordProjection, models: ModelStore, docs: readonly ForecastDoc[]): Promise<StoredScores[]> {
  const resolved = docs.flatMap((doc) => {
    const scored = toScoredForecast(doc);
    return scored === null ? [] : [{ doc, scored }];
  });
  const uncommitted = resolved.filter(({ doc }) => known.findScores(doc) === null);
  const versions = new Set(uncommitted.flatMap(({ doc }) => doc.modelVersion ?? []));
  const modelByVersion = new Map(
    await Promise.all([...versions].map(async (version) => [version, await models.get(version).catch(orElse('NOT_FOUND', null))] as const)),
  );
  return resolved.map(({ doc, scored }) => {
    const found = known.findScores(doc);
    const distribution = found?.models[found.champion] ?? scoreDistribution(doc, modelByVersion.get(doc.modelVersion ?? '') ?? null);
    return { ...scored, distribution, replayed: doc.replayed, move: found?.move ?? null };
  });
}

/** Scores the return from the price at signal time, as published; it differs slightly from that of the outcome window. */
function scoreDistribution({ values, resolution, horizonDays }: ForecastDoc, model: ModelDoc | null): ScoredForecast['distribution'] {
  const fit = model?.horizons.find((candidate) => candidate.horizonDays === horizonDays);
  if (fit === undefined || values === null || resolution === null) return null;
  const distribution = { ...values.distribution, residualQuantiles: fit.residualQuantiles };
  const realised = getReturnFromSignal({ values, resolution });
  return { crps: crps(distribution, realised), pit: cdf(distribution, realised) };
}

/** Figures of the whole record, each computed once per change of it: by the first who asks, or ahead of requests by `refresh`. */
export class RecordFigures {
  readonly #known: RecordProjection;
  readonly #models: ModelStore;
  readonly #computed = new Map<string, { revision: number; figures: Promise<unknown> }>();
  readonly #selections = new LRUCache<string, Promise<HorizonFigures>>({ max: MAX_CACHED_SELECTIONS });

  constructor(known: RecordProjection, models: ModelStore) {
    this.#known = known;
    this.#models = models;
  }

  getHorizon(horizonDays: number): Promise<HorizonFigures> {
    return this.#get(`horizon:${horizonDays}`, () => this.#compute(this.#known.listByHorizon(horizonDays), horizonDays));
  }

  /** Of those forecasts of a horizon that a filter selects, once per change of the record. @param key names the filter */
  getSelection(horizonDays: number, key: string, selects: (doc: ForecastDoc) => boolean): Promise<HorizonFigures> {
    const name = JSON.stringify([this.#known.revisions.forecasts, horizonDays, key]);
    const found = this.#selections.get(name) ?? this.#compute(this.#known.listByHorizon(horizonDays).filter(selects), horizonDays);
    this.#selections.set(name, found);
    found.catch(() => this.#selections.delete(name));
    return found;
  }

  getHorizons(): Promise<HorizonFigures[]> {
    return Promise.all(HORIZONS.map((horizonDays) => this.getHorizon(horizonDays)));
  }

  async getHorizonRows() {
    const figures = await this.getHorizons();
    return figures.map(({ row, moveVerdict }) => ({ ...row, moveVerdict }));
  }

  async getDetails(horizonDays: number) {
    const [{ statistics, byRegime, byModelVersion, moveSkill, moveVerdict }, byHorizon] = await Promise.all([
      this.getHorizon(horizonDays),
      this.getHorizonRows(),
    ]);
    return { statistics, moveSkill, moveVerdict, byHorizon, byRegime, byModelVersion };
  }

  getAttestations(): Promise<AttestationFigures> {
    const all = () => this.#known.listAll().filter(({ attestation }) => attestation !== null);
    return this.#get('attestations', async () => computeAttestationFigures(all()));
  }

  getChallenge(horizonDays: number): Promise<ChallengeFigures> {
    return this.#get(`challenge:${horizonDays}`, async () => computeChallengeFigures(this.#listScores(horizonDays), horizonDays));
  }

  getSeries(horizonDays: number): Promise<RecordSeries> {
    return this.#get(`series:${horizonDays}`, async () =>
      buildRecordSeries(this.#known.listByHorizon(horizonDays), this.#listScores(horizonDays)),
    );
  }

  /** Computes what the newest change has made old, one after the other, with requests between them. */
  async refresh(): Promise<void> {
    for (const horizonDays of HORIZONS) {
      for (const compute of ['getHorizon', 'getChallenge', 'getSeries'] as const) {
        await this[compute](horizonDays);
        await new Promise(setImmediate);
      }
    }
    await this.getAttestations();
  }

  #compute(docs: readonly ForecastDoc[], horizonDays: number): Promise<HorizonFigures> {
    return computeHorizonFigures(this.#known, this.#models, docs, horizonDays);
  }

  #listScores(horizonDays: number): DistributionScoresDoc[] {
    return this.#known.listByHorizon(horizonDays).flatMap((doc) => this.#known.findScores(doc) ?? []);
  }

  #get<Figures>(name: string, compute: () => Promise<Figures>): Promise<Figures> {
    const revision = this.#known.revisions.forecasts;
    const computed = this.#computed.get(name);
    if (computed?.revision === revision) return computed.figures as Promise<Figures>;
    const figures = compute();
    this.#computed.set(name, { revision, figures });
    figures.catch(() => this.#computed.delete(name));
    return figures;
  }
}

type AttestedForecast = Pick<ForecastDoc, 'horizonDays' | 'attestation' | 'reveal'>;

type AttestationFigures = ReturnType<typeof computeAttestationFigures>;

/** Attestations by horizon, and their cost by the set of horizons that a transaction carries, so that a transaction counts once. */
function computeAttestationFigures(docs: readonly AttestedForecast[]) {
  const found = docs.flatMap(({ horizonDays, attestation, reveal }) =>
    [attestation, reveal].flatMap((one) => (one === null ? [] : [{ horizonDays, one }])),
  );
  const horizonsOf = new Map<string, Set<number>>();
  for (const { horizonDays, one } of found) horizonsOf.set(one.txHash, (horizonsOf.get(one.txHash) ?? new Set()).add(horizonDays));
  const toKey = (txHash: string) => [...horizonsOf.get(txHash)!].toSorted((a, b) => a - b).join();
  return {
    byHorizon: [...Map.groupBy(docs, ({ horizonDays }) => horizonDays)].map(([horizonDays, of]) => countAttestations(horizonDays, of)),
    costs: [...Map.groupBy(found, ({ one }) => toKey(one.txHash))].map(([key, members]) => ({
      horizons: key.split(',').map(Number),
      wei: String(sumCostWei(members.map(({ one }) => one))),
    })),
  };
}

function countAttestations(horizonDays: number, docs: readonly AttestedForecast[]) {
  const predictions = docs.flatMap(({ attestation }) => attestation ?? []);
  const resolutions = docs.flatMap(({ reveal }) => reveal ?? []);
  const times = [...predictions, ...resolutions].map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime());
  const count = { horizonDays, predictions: predictions.length, resolutions: resolutions.length };
  return { ...count, firstAt: times[0] ?? null, latestAt: times.at(-1) ?? null };
}

/** Cost in wei: gas, and the data fee of a rollup. A transaction that carries several attestations counts once. */
export function sumCostWei(references: readonly ConfirmedAttestation[]): bigint {
  const byTransaction = new Map(references.map((reference) => [reference.txHash, reference]));
  return [...byTransaction.values()].reduce(
    (sum, { gasUsed, effectiveGasPriceWei, l1FeeWei = '0' }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPriceWei) + BigInt(l1FeeWei),
    0n,
  );
}

/** The figures of some horizons; times are ISO 8601. */
export function summarizeAttestations({ byHorizon, costs }: AttestationFigures, horizons: readonly number[]) {
  const chosen = byHorizon.filter(({ horizonDays }) => horizons.includes(horizonDays));
  const times = chosen.flatMap(({ firstAt, latestAt }) => [firstAt, latestAt]).flatMap((at) => at?.getTime() ?? []);
  return {
    predictions: chosen.reduce((sum, { predictions }) => sum + predictions, 0),
    resolutions: chosen.reduce((sum, { resolutions }) => sum + resolutions, 0),
    firstAttestation: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
    latestAttestation: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    totalGasWei: costs
      .filter((cost) => cost.horizons.some((horizonDays) => horizons.includes(horizonDays)))
      .reduce((sum, { wei }) => sum + BigInt(wei), 0n),
  };
}
