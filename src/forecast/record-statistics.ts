import { chooseBlockDays, MIN_BLOCKS, SHARE_RANGE, studentQuantile } from './bootstrap.ts';
import type { Day } from './day.ts';
import { toRecord } from './inputs.ts';
import { meanBy } from './math.ts';
import { formatHorizonName } from './model.ts';
import type { MoveSize } from './move.ts';
import { type MoveReference, type MoveScores, scoreProbability } from './move-scores.ts';
import { brierScore, computeAccuracy, type Interval, type Outcome, wilsonInterval } from './signal.ts';
import {
  computeCallStatistics,
  computeDistributionStatistics,
  computeProbabilityStatistics,
  computeWinRate,
  DIFFERENCE_RANGE,
  formatRecordVerdict,
  isHit,
  isScored,
  type RecordRow,
  type RecordStatus,
  type ScoredForecast,
} from './statistics.ts';

export type RecordStatistics = ReturnType<typeof computeRecordStatistics>;

/**
 * Statistics with confidence intervals of one horizon's resolved forecasts, by ascending day. Deterministic: the resampling has a fixed seed.
 * @throws OracleError INPUT_INVALID unless days strictly ascend and probabilities are within 0 to 1
 */
export function computeRecordStatistics(forecasts: readonly ScoredForecast[], horizonDays: number) {
  return {
    calls: computeCallStatistics(forecasts, horizonDays),
    probabilities: computeProbabilityStatistics(forecasts, horizonDays),
    distribution: computeDistributionStatistics(forecasts, horizonDays),
  };
}

/** Replaces null figures by the interface's defaults (section 2.3); intervals stay null, and the verdict states that nothing was scored. */
export function toPublishedSummary(source: Omit<RecordSummary, 'longestWinStreak'>) {
  const { accuracy, dedupedAccuracy, streak, ...summary } = source;
  return {
    ...summary,
    /** Equals `resolved`; 0 marks the shares as placeholders. */
    scored: summary.resolved,
    /** Share of wins, 0 to 1; 0 where nothing is scored. */
    accuracy: accuracy ?? 0,
    dedupedAccuracy: dedupedAccuracy ?? 0,
    streak: { count: streak.count, type: streak.type ?? 'WIN' },
  };
}

/** One horizon of an overview of all. */
export function publishHorizonRow(horizonDays: number, summary: RecordSummary, effectiveN: number) {
  const { totalPredictions: total, resolved, wins, accuracy, dedupedTotal, accuracyInterval95, brier } = summary;
  const { holds, voids, missed, pending, verdict } = summary;
  const share = { total, resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier };
  return { horizon: formatHorizonName(horizonDays), ...share, holds, voids, missed, pending, verdict };
}

/** Summary and statistics of a scorecard. */
export function publishRecordSummary({ longestWinStreak: longestStreak, ...source }: RecordSummary) {
  const summary = toPublishedSummary(source);
  const { totalPredictions: total, scored, wins, losses, accuracy, streak } = summary;
  const currentStreak = streak.type === 'WIN' ? streak.count : 0;
  return { summary, stats: { total, scored, wins, losses, accuracy, currentStreak, longestStreak } };
}

export type RecordSummary = ReturnType<typeof summarizeRecord>;

/** Counts and accuracy (interface, section 2.3) of one horizon's forecasts, given in the order of their sequence. Shares 0 to 1. */
export function summarizeRecord(rows: readonly RecordRow[], horizonDays: number) {
  const share = computeWinRate(rows, horizonDays);
  const calls = rows.filter(isScored);
  const countOf = (status: RecordStatus) => rows.filter((row) => row.status === status).length;
  const streaks = computeStreaks(calls.map(({ status }) => status));
  const holds = countOf('HOLD');
  return {
    totalPredictions: rows.length,
    resolved: share.n,
    wins: share.wins,
    losses: share.n - share.wins,
    /** Counted, never scored. */
    holds,
    voids: countOf('VOID'),
    /** Voids of days without a forecast. */
    missed: rows.filter(({ missed }) => missed).length,
    pending: countOf('PENDING'),
    /** Share of wins, 0 to 1; null before the first resolution. */
    accuracy: share.accuracy,
    /** Calls with windows that do not overlap. */
    dedupedTotal: share.independent,
    dedupedWins: share.independentWins,
    dedupedAccuracy: share.independentAccuracy,
    /** 95 % Wilson interval of `dedupedWins` in `dedupedTotal`, not of `accuracy`. */
    dedupedInterval95: share.independent === 0 ? null : wilsonInterval(share.independentWins, share.independent),
    /** 95 % interval of `accuracy`, by `computeShareInterval`. */
    accuracyInterval95: share.interval95,
    /** Accuracy of always calling UP on the same forecasts. */
    alwaysUpAccuracy: computeAccuracy(calls.map(({ scored }) => (scored?.rose ? 'WIN' : 'LOSS'))),
    streak: { count: streaks.current?.count ?? 0, type: streaks.current?.type ?? null },
    longestWinStreak: streaks.longestWin,
    brier: compareBrier(rows),
    verdict: formatRecordVerdict(calls, { share, holds, horizonDays, resolved: rows.flatMap(({ scored }) => scored ?? []) }),
  };
}

/** Runs in outcomes ordered from first to last: the current run of equal ones, null without outcomes, and the longest of wins. */
export function computeStreaks(outcomes: readonly Outcome[]) {
  let count = 0;
  let longestWin = 0;
  outcomes.forEach((outcome, index) => {
    count = outcome === outcomes[index - 1] ? count + 1 : 1;
    if (outcome === 'WIN') longestWin = Math.max(longestWin, count);
  });
  const last = outcomes.at(-1);
  return { current: last === undefined ? null : { type: last, count }, longestWin };
}

/**
 * Brier score of all resolved forecasts, HOLD included, and of both base rates known at the time; null without any or where the first rate
 * is unknown.
 */
export function compareBrier(rows: readonly Pick<RecordRow, 'scored'>[]) {
  const scored = rows.flatMap((row) => row.scored ?? []);
  if (scored.length === 0 || scored.some(({ climatology }) => climatology === null)) return null;
  const score = (probability: (forecast: ScoredForecast) => number) => meanBy(scored, (one) => brierScore(probability(one), one.rose));
  const isRecentKnown = scored.every(({ climatology4y }) => typeof climatology4y === 'number');
  return {
    n: scored.length,
    model: score(({ pUp }) => pUp),
    climatology: score(({ climatology }) => climatology!),
    /** The harder reference; null where it is unknown of a day. */
    climatology4y: isRecentKnown ? score(({ climatology4y }) => climatology4y!) : null,
  };
}

/** Days of the rolling window. */
export const ROLLING_DAYS = 90;

/** A resolved forecast with what the series need of its distribution; null for a day without. */
export interface SeriesForecast extends ScoredForecast {
  central: { crps: number; climatologyCrps: number | null; in80: boolean } | null;
  move: MoveScores | null;
}

const RATIO: Interval = { low: 0, high: Number.POSITIVE_INFINITY };
interface SeriesMeasure {
  /** Of a day; null where it does not count. */
  part(forecast: SeriesForecast): Omit<RatioPart, 'day'> | null;
  range: Interval;
  /** Whether the value is one minus the ratio. */
  isSkill?: true;
}

const ofCalls = (value: (forecast: SeriesForecast) => number) => (forecast: SeriesForecast) =>
  forecast.call === null ? null : { numerator: value(forecast), denominator: 1 };

/** Brier skill of P(big move) against a reference. */
const ofMoves = (reference: MoveReference) => ({
  part: ({ move }: SeriesForecast) => {
    const theirs = move?.references[reference] ?? null;
    if (move === null || theirs === null) return null;
    return { numerator: scoreProbability(move.pBig, move.big), denominator: scoreProbability(theirs, move.big) };
  },
  range: RATIO,
  isSkill: true as const,
});

/** Share of big moves among forecasts of a size. */
const ofSize = (size: MoveSize) => ({
  part: ({ move }: SeriesForecast) => (move?.moveSize === size ? { numerator: Number(move.big), denominator: 1 } : null),
  range: SHARE_RANGE,
});

/** What the series show; higher is better but for `alwaysUp`, the reference, `coverage80`, which should be .8, and the shares of big moves. */
const SERIES_MEASURES = {
  hitRate: { part: ofCalls((one) => Number(isHit(one))), range: SHARE_RANGE },
  alwaysUp: { part: ofCalls(({ rose }) => Number(rose)), range: SHARE_RANGE },
  hitAdvantage: { part: ofCalls((one) => Number(isHit(one)) - Number(one.rose)), range: DIFFERENCE_RANGE },
  brierSkill: {
    part: ({ pUp, climatology, rose }) =>
      climatology === null ? null : { numerator: brierScore(pUp, rose), denominator: brierScore(climatology, rose) },
    range: RATIO,
    isSkill: true,
  },
  crpsSkill: {
    part: ({ central }) =>
      central === null || central.climatologyCrps === null ? null : { numerator: central.crps, denominator: central.climatologyCrps },
    range: RATIO,
    isSkill: true,
  },
  coverage80: { part: ({ central }) => central && { numerator: Number(central.in80), denominator: 1 }, range: SHARE_RANGE },
  moveSkillFrequency: ofMoves('frequency'),
  moveSkillEwma: ofMoves('ewma'),
  bigWhenCalm: ofSize('CALM'),
  bigWhenUsual: ofSize('USUAL'),
  bigWhenWild: ofSize('WILD'),
} as const satisfies Record<string, SeriesMeasure>;

export type SeriesMeasureName = keyof typeof SERIES_MEASURES;
export const SERIES_MEASURE_NAMES = Object.keys(SERIES_MEASURES) as SeriesMeasureName[];

export type SeriesValues = Record<SeriesMeasureName, RatioEstimate>;

/** A point a resolved day, by its index, computed when it is asked for. @param forecasts of one horizon by ascending day */
export function createScoreSeries(forecasts: readonly SeriesForecast[]) {
  const sums = toRecord(SERIES_MEASURE_NAMES, (name) => sumMeasure(forecasts, name));
  const days = Int32Array.from(forecasts, ({ day }) => day);
  const computePoint = (index: number) => {
    const day = days[index]!;
    return {
      /** Resolved forecasts up to this day. */
      n: index + 1,
      cumulative: estimateAll(sums, { from: days[0]!, through: day }),
      /** Over the last `ROLLING_DAYS` days. */
      rolling: estimateAll(sums, { from: day - ROLLING_DAYS + 1, through: day }),
    };
  };
  return { days, computePoint };
}

function sumMeasure(forecasts: readonly SeriesForecast[], name: SeriesMeasureName): RatioSums {
  const measure: SeriesMeasure = SERIES_MEASURES[name];
  const parts = forecasts.flatMap((forecast): RatioPart[] => {
    const part = measure.part(forecast);
    return part === null ? [] : [{ day: forecast.day, ...part }];
  });
  return sumRatioParts(parts);
}

function estimateAll(sums: Record<SeriesMeasureName, RatioSums>, days: { from: Day; through: Day }): SeriesValues {
  return toRecord(SERIES_MEASURE_NAMES, (name) => {
    const { range, isSkill }: SeriesMeasure = SERIES_MEASURES[name];
    const estimate = estimateRatio(sums[name], days, range);
    return isSkill ? toSkill(estimate) : estimate;
  });
}

function toSkill({ value, low, high }: RatioEstimate): RatioEstimate {
  const skill = (ratio: number | null) => (ratio === null ? null : 1 - ratio);
  return { value: skill(value), low: skill(high), high: skill(low) };
}

/** A day's part of a ratio of sums. */
export interface RatioPart {
  day: Day;
  numerator: number;
  denominator: number;
}

interface RatioEstimate {
  /** Null where the denominators sum to 0. */
  value: number | null;
  /** Null with fewer than five blocks of days. */
  low: number | null;
  high: number | null;
}

type RatioSums = ReturnType<typeof sumRatioParts>;

/** Sums up to each day from the first on; entry `i` covers the days before `firstDay + i`. @param parts by ascending day */
export function sumRatioParts(parts: readonly RatioPart[]) {
  const firstDay = parts[0]?.day ?? 0;
  const days = parts.length === 0 ? 0 : parts.at(-1)!.day - firstDay + 1;
  const [numerators, denominators] = [new Float64Array(days + 1), new Float64Array(days + 1)];
  let next = 0;
  for (let day = 0; day < days; day++) {
    const part = parts[next]?.day === firstDay + day ? parts[next++]! : { numerator: 0, denominator: 0 };
    numerators[day + 1] = numerators[day] + part.numerator;
    denominators[day + 1] = denominators[day] + part.denominator;
  }
  return { firstDay, numerators, denominators };
}

/**
 * Ratio of the sums over the days from `from` to `through`, with its 95 % interval by Student's t over blocks of consecutive days (ratio
 * estimator, Cochran 1977, 6.3), which keep the dependence of overlapping windows; cheap enough for every day of a series.
 */
export function estimateRatio(sums: RatioSums, { from, through }: { from: Day; through: Day }, range: Interval): RatioEstimate {
  const clamp = (day: Day) => Math.min(sums.numerators.length - 1, Math.max(0, day - sums.firstDay));
  const [start, end] = [clamp(from), clamp(through + 1)];
  const denominator = sums.denominators[end] - sums.denominators[start];
  if (!(denominator > 0)) return { value: null, low: null, high: null };
  const value = (sums.numerators[end] - sums.numerators[start]) / denominator;
  const blockDays = chooseBlockDays(end - start);
  let [blocks, squares] = [0, 0];
  for (let at = start; at < end; at += blockDays) {
    const to = Math.min(end, at + blockDays);
    const own = sums.denominators[to] - sums.denominators[at];
    if (own === 0) continue;
    blocks++;
    squares += (sums.numerators[to] - sums.numerators[at] - value * own) ** 2;
  }
  if (blocks < MIN_BLOCKS) return { value, low: null, high: null };
  const half = (studentQuantile(blocks - 1) * Math.sqrt((squares * blocks) / (blocks - 1))) / denominator;
  return { value, low: Math.max(range.low, value - half), high: Math.min(range.high, value + half) };
}
