import { OracleError } from '../errors.ts';
import {
  blockBootstrap,
  bootstrapEstimate,
  bootstrapShares,
  countEffective,
  fillsBlocks,
  type IntervalEstimate,
  requireAscending,
  SHARE_RANGE,
} from './bootstrap.ts';
import type { Day } from './day.ts';
import { formatPercent, meanBy, shareOf } from './math.ts';
import {
  boundedLogLoss,
  brierScore,
  computeAccuracy,
  computeShareInterval,
  type Direction,
  type Interval,
  type Outcome,
  selectNonOverlapping,
} from './signal.ts';

/** Observed share with its interval, by the block bootstrap where the outcomes fill five blocks, else Wilson's on their effective number. */
interface Coverage {
  observed: number;
  interval95: Interval;
}

/** Coverage of the outcomes of windows that open on one weekday. */
interface WeekdayCoverage {
  weekday: (typeof WEEKDAYS)[number];
  n: number;
  coverage: ({ nominal: number } & Coverage)[];
}

export interface DistributionStatistics {
  n: number;
  effectiveN: number;
  /** Mean continuous ranked probability score, in log-return units; lower is better. */
  crps: number;
  /** By nominal share of a central band of the distribution. */
  coverage: ({ nominal: number } & Coverage)[];
  quantiles: ({ level: number } & Coverage)[];
  /** Monday to Sunday, weekdays without an outcome left out. */
  weekdays: WeekdayCoverage[];
}

interface KnownOutcome {
  day: Day;
  crps: number;
  pit: number;
}

const CENTRAL_BANDS = [0.5, 0.8, 0.9] as const;
const QUANTILE_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;
export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Statistics over the forecasts of one horizon that have a distribution; null without any. */
export function computeDistributionStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): DistributionStatistics | null {
  const known = forecasts.flatMap(({ day, distribution }): KnownOutcome[] => (distribution === null ? [] : [{ day, ...distribution }]));
  if (known.length === 0) return null;
  const all: Outcomes = { members: known, span: spanOf(known), horizonDays };
  return {
    n: known.length,
    effectiveN: countEffective(known, horizonDays),
    crps: meanBy(known, ({ crps }) => crps),
    coverage: computeBands(all),
    quantiles: computeQuantiles(all),
    weekdays: WEEKDAYS.flatMap((weekday, index) => {
      const members = known.filter(({ day }) => getOpeningWeekday(day) === index);
      return members.length === 0 ? [] : [{ weekday, n: members.length, coverage: computeBands({ ...all, members }) }];
    }),
  };
}

/** Some outcomes of a record, all of whose days are resampled together so that all shares have the same draws. */
interface Outcomes {
  members: readonly KnownOutcome[];
  span: DaySpan;
  horizonDays: number;
}

function computeBands(outcomes: Outcomes): DistributionStatistics['coverage'] {
  const coverage = computeCoverage(
    outcomes,
    CENTRAL_BANDS.map((nominal) => (pit) => Math.abs(pit - 0.5) <= nominal / 2),
  );
  return CENTRAL_BANDS.map((nominal, index) => ({ nominal, ...coverage[index] }));
}

function computeQuantiles(outcomes: Outcomes): DistributionStatistics['quantiles'] {
  const coverage = computeCoverage(
    outcomes,
    QUANTILE_LEVELS.map((level) => (pit) => pit <= level),
  );
  return QUANTILE_LEVELS.map((level, index) => ({ level, ...coverage[index] }));
}

/** Of the outcomes by each of the sets of transforms. */
function computeCoverage({ members, span, horizonDays }: Outcomes, sets: readonly ((pit: number) => boolean)[]): Coverage[] {
  const flag = (isIn: (pit: number) => boolean) => toDailyColumn(members, ({ pit }) => (isIn(pit) ? 1 : 0), span);
  const intervals = bootstrapShares(
    sets.map(flag),
    flag(() => true),
  );
  return sets.map((isIn, index) => {
    const observed = shareOf(members, ({ pit }) => isIn(pit));
    return { observed, interval95: intervals[index] ?? computeShareInterval(observed, countEffective(members, horizonDays)) };
  });
}

/** Of the day after the forecast, on which its window opens: 0 for Monday to 6 for Sunday. Day 0 was a Thursday. */
function getOpeningWeekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}

export interface ScoredForecast {
  day: Day;
  /** Null for HOLD, whose probability alone is scored. */
  call: Direction | null;
  /** Whether the close at resolution was strictly higher than that at window open. */
  rose: boolean;
  pUp: number;
  /** The base rate known at the time; null where unknown. */
  climatology: number | null;
  /** CRPS in log-return units, and the probability integral transform of the outcome, 0 to 1; null where unknown. */
  distribution: { crps: number; pit: number } | null;
}

/** Consecutive days. */
interface DaySpan {
  first: Day;
  days: number;
}

function spanOf(forecasts: readonly { day: Day }[]): DaySpan {
  const first = forecasts[0]?.day ?? 0;
  return { first, days: forecasts.length === 0 ? 0 : forecasts[forecasts.length - 1].day - first + 1 };
}

/** Values by day of `span`, by default from the first forecast to the last; 0 on days without one. @throws OracleError INPUT_INVALID unless days ascend */
export function toDailyColumn<T extends { day: Day }>(
  forecasts: readonly T[],
  numberOf: (forecast: T) => number,
  { first, days }: DaySpan = spanOf(forecasts),
): Float64Array {
  const column = new Float64Array(days);
  let before = first - 1;
  for (const forecast of forecasts) {
    requireAscending(before, forecast.day);
    before = forecast.day;
    column[forecast.day - first] = numberOf(forecast);
  }
  return column;
}

/** Forecast and observed frequency within one bin of probabilities; empty bins are omitted. */
export interface ReliabilityRow {
  /** Lower bound, inclusive; the upper one is exclusive, except 1. */
  from: number;
  to: number;
  n: number;
  effectiveN: number;
  meanProbability: number;
  observedShare: number;
  /** Wilson interval of the share on `effectiveN` trials. */
  interval95: Interval;
}

/** Skill 1 - score / reference with its 95 % interval, and the reference's mean score; positive skill is better than the reference. */
type BrierSkill = IntervalEstimate & { brier: number };

/** Quality of the probabilities of UP, HOLD included. Lower scores are better. */
export interface ProbabilityStatistics {
  n: number;
  effectiveN: number;
  brier: number;
  /** Mean log loss, natural logarithm; 0.6931 for a constant one half. */
  logScore: number;
  /** Brier skill against the base rate known at the time; null where that is unknown. */
  climatologySkill: BrierSkill | null;
  /** Brier skill against P(up) = 1; null as long as that has never been wrong. */
  alwaysUpSkill: BrierSkill | null;
  murphy: MurphyDecomposition;
  reliability: ReliabilityRow[];
}

/** Bins of five points, since probabilities cluster around the base rate. */
const BIN_COUNT = 20;

/** Statistics of one horizon's probabilities, by ascending day; null without any. */
export function computeProbabilityStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): ProbabilityStatistics | null {
  if (forecasts.length === 0) return null;
  const model = (one: ScoredForecast) => brierScore(one.pUp, one.rose);
  const isBaseRateKnown = forecasts.every(({ climatology }) => climatology !== null);
  return {
    n: forecasts.length,
    effectiveN: countEffective(forecasts, horizonDays),
    brier: meanBy(forecasts, model),
    logScore: meanBy(forecasts, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    climatologySkill: isBaseRateKnown ? computeSkill(forecasts, model, ({ climatology, rose }) => brierScore(climatology!, rose)) : null,
    alwaysUpSkill: computeSkill(forecasts, model, ({ rose }) => brierScore(1, rose)),
    murphy: decomposeBrier(
      forecasts.map(({ pUp, rose }) => ({ p: pUp, happened: rose })),
      BIN_COUNT,
    )!,
    reliability: buildReliabilityRows(forecasts, horizonDays),
  };
}

/** Scores are not negative, so skill is at most 1. */
const SKILL_RANGE: Interval = { low: Number.NEGATIVE_INFINITY, high: 1 };

/** Skill of one score against another on the same days, with its interval; null where the reference was never wrong. */
export function computeSkill<T extends { day: number }>(
  forecasts: readonly T[],
  scoreOf: (forecast: T) => number,
  referenceOf: (forecast: T) => number,
): BrierSkill | null {
  const reference = meanBy(forecasts, referenceOf);
  const value = 1 - meanBy(forecasts, scoreOf) / reference;
  if (!Number.isFinite(value)) return null;
  const columns = [toDailyColumn(forecasts, scoreOf), toDailyColumn(forecasts, referenceOf)];
  const estimate = bootstrapEstimate(value, { columns, statistic: ([ours, theirs]) => 1 - ours / theirs, range: SKILL_RANGE });
  return { brier: reference, ...estimate };
}

function buildReliabilityRows(forecasts: readonly ScoredForecast[], horizonDays: number): ReliabilityRow[] {
  const groups = Map.groupBy(forecasts, ({ pUp }) => Math.min(BIN_COUNT - 1, Math.floor(pUp * BIN_COUNT)));
  return [...groups].sort(([a], [b]) => a - b).map(([bin, members]) => buildReliabilityRow(bin, members, horizonDays));
}

function buildReliabilityRow(bin: number, members: readonly ScoredForecast[], horizonDays: number): ReliabilityRow {
  const observedShare = shareOf(members, ({ rose }) => rose);
  const effectiveN = countEffective(members, horizonDays);
  return {
    from: bin / BIN_COUNT,
    to: (bin + 1) / BIN_COUNT,
    n: members.length,
    effectiveN,
    meanProbability: meanBy(members, ({ pUp }) => pUp),
    observedShare,
    interval95: computeShareInterval(observedShare, effectiveN),
  };
}

/**
 * Brier score = reliability - resolution + uncertainty + withinBins (Murphy 1973; the last term, for bins of unequal probabilities, by
 * Stephenson et al. 2008). All in units of the Brier score.
 */
export interface MurphyDecomposition {
  brier: number;
  /** Squared distance of forecast and observed frequency by bin; lower is better. */
  reliability: number;
  /** Variance of observed frequencies between bins; higher is better. */
  resolution: number;
  /** Variance of the outcomes, independent of the forecasts. */
  uncertainty: number;
  withinBins: number;
}

/** The decomposition over bins of equal width; null without forecasts. */
export function decomposeBrier(forecasts: readonly ProbabilityOutcome[], bins: number): MurphyDecomposition | null {
  const n = forecasts.length;
  if (n === 0) return null;
  const groups = Map.groupBy(forecasts, ({ p }) => Math.min(bins - 1, Math.floor(p * bins)));
  const share = shareOf(forecasts, ({ happened }) => happened);
  let reliability = 0;
  let resolution = 0;
  for (const group of groups.values()) {
    const observed = shareOf(group, ({ happened }) => happened);
    reliability += (group.length / n) * (meanBy(group, ({ p }) => p) - observed) ** 2;
    resolution += (group.length / n) * (observed - share) ** 2;
  }
  const brier = meanBy(forecasts, ({ p, happened }) => (p - (happened ? 1 : 0)) ** 2);
  const uncertainty = share * (1 - share);
  return { brier, reliability, resolution, uncertainty, withinBins: brier - reliability + resolution - uncertainty };
}

interface ProbabilityOutcome {
  p: number;
  happened: boolean;
}

/** Forecast and observed frequency within one tenth of the probability range. */
export interface ReliabilityBin {
  /** Lower bound, inclusive; the upper one is exclusive, except 1. */
  from: number;
  to: number;
  n: number;
  effectiveN: number;
  /** Null for an empty bin, like the share. */
  meanProbability: number | null;
  observedShare: number | null;
  /** 95 % Wilson interval of the share on `effectiveN` trials; null for an empty bin. */
  interval95: Interval | null;
}

const RELIABILITY_BIN_COUNT = 10;

/**
 * Reliability in ten bins of equal width, empty ones included.
 * @param effectiveCountOf effective number of outcomes in a bin; by default the members are independent
 * @throws OracleError INPUT_INVALID for a `p` outside 0 to 1
 */
export function computeReliabilityBins<T extends ProbabilityOutcome>(
  forecasts: readonly T[],
  effectiveCountOf: (members: readonly T[]) => number = ({ length }) => length,
): ReliabilityBin[] {
  const members = Map.groupBy(forecasts, ({ p }) => toBinIndex(p));
  return Array.from({ length: RELIABILITY_BIN_COUNT }, (_, index) => {
    const bin = members.get(index) ?? [];
    return buildBin(index, bin, effectiveCountOf(bin));
  });
}

function toBinIndex(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(RELIABILITY_BIN_COUNT - 1, Math.floor(p * RELIABILITY_BIN_COUNT));
}

function buildBin(index: number, members: readonly ProbabilityOutcome[], effectiveN: number): ReliabilityBin {
  const n = members.length;
  const observedShare = n === 0 ? null : shareOf(members, ({ happened }) => happened);
  return {
    from: index / RELIABILITY_BIN_COUNT,
    to: (index + 1) / RELIABILITY_BIN_COUNT,
    n,
    effectiveN,
    meanProbability: n === 0 ? null : meanBy(members, ({ p }) => p),
    observedShare,
    interval95: observedShare === null ? null : computeShareInterval(observedShare, effectiveN),
  };
}

interface RecordVerdictInput {
  /** Of the same calls. */
  share: WinRate;
  holds: number;
  horizonDays: number;
  /** Resolved forecasts in the order of their sequence, HOLD included. */
  resolved: readonly ScoredForecast[];
}

/** Relation of a figure to its reference, by the sign of its significant difference. */
export const RELATIONS = { '-1': 'worse than', 0: 'not distinguishable from', 1: 'better than' } as const;

/** The verdict on one horizon's calls: their win rate with its interval, and the counts of windows that do not overlap. */
export function formatRecordVerdict(calls: readonly ScoredCall[], { share, holds, horizonDays, resolved }: RecordVerdictInput): string {
  if (share.interval95 === null) return formatVerdictWithoutCalls(holds);
  const { n, wins, effectiveN, independent, independentWins, interval95 } = share;
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const overlapping = independent < n;
  const worth = overlapping ? `, worth ${effectiveN.toFixed(effectiveN < 10 ? 1 : 0)} independent calls` : '';
  const interval = `95 % interval ${interval95.low.toFixed(2)} to ${interval95.high.toFixed(2)}`;
  const always = everyCallUp
    ? `every call was UP: ${formatSelection(selectNonOverlapping(resolved, 1))}`
    : `always-UP ${countRises(calls)} of ${n}`;
  const rises = everyCallUp ? '' : `, always-UP ${countRises(selectNonOverlapping(calls, horizonDays))}`;
  const apart = overlapping ? `; on windows that do not overlap ${independentWins} of ${independent}${rises}` : '';
  const scored = selectNonOverlapping(calls, 1).flatMap((call) => call.scored ?? []);
  const relation = RELATIONS[testAdvantageOverAlwaysUp(scored, horizonDays)];
  return `${relation} always-UP: ${wins} of ${n} right${worth}, ${interval}; ${always}${apart}`;
}

/** What choosing the days was worth, where every call was UP. */
function formatSelection(resolved: readonly ScoredForecast[]): string {
  const selection = compareSelection(resolved);
  if (selection === null) return 'no day was left out, so that it is always-UP';
  const { called, held, overHeld, all, overAll } = selection;
  const [other, difference] = held === null || overHeld === null ? [all, overAll] : [held, overHeld];
  const than = held === null ? 'of all days' : 'of HOLD days';
  const { value, low, high } = difference;
  const points = (share: number) => (100 * share).toFixed(1).replace(/^-(0\.0)$/, '$1');
  const interval =
    low === null || high === null ? ', on too few days for an interval' : ` (95 % interval ${points(low)} to ${points(high)})`;
  return `it rose on ${formatPercent(called)} of those days and on ${formatPercent(other)} ${than}, difference ${points(value)} points${interval}`;
}

function formatVerdictWithoutCalls(holds: number): string {
  if (holds === 0) return 'nothing resolved yet: no claim can be made';
  return `no calls: all ${holds} resolved forecasts were HOLD`;
}

function countRises(calls: readonly ScoredCall[]): number {
  return calls.filter(({ scored }) => scored?.rose).length;
}

/** Two-sided type I error rate. */
const SIGNIFICANCE = 0.05;

/**
 * 1 where one horizon's calls, by ascending day, beat always calling UP, -1 where they lose to it, 0 where neither is significant. A sign
 * test of the non-overlapping DOWN calls decides; in a record long enough, the bootstrap of the daily difference must agree.
 * @throws OracleError INPUT_INVALID unless days strictly ascend
 */
export function testAdvantageOverAlwaysUp(forecasts: readonly ScoredForecast[], horizonDays: number): -1 | 0 | 1 {
  const calls = forecasts.filter(({ call }) => call !== null);
  const downs = selectNonOverlapping(
    calls.filter(({ call }) => call === 'DOWN'),
    horizonDays,
  );
  const right = downs.filter(isHit).length;
  if (computeSignTest(right, downs.length) >= SIGNIFICANCE) return 0;
  const sign = 2 * right > downs.length ? 1 : -1;
  return bootstrapAgrees(calls, sign) ? sign : 0;
}

/** Exact two-sided binomial test of `right` in `n` trials at one half: its p-value. */
export function computeSignTest(right: number, n: number): number {
  const most = Math.max(right, n - right);
  // In logarithms, since 2 ** -n underflows for a long record.
  let logChance = -n * Math.LN2;
  let tail = 0;
  for (let successes = n; successes >= most; successes--) {
    tail += Math.exp(logChance);
    logChance += Math.log(successes / (n - successes + 1));
  }
  return Math.min(1, 2 * tail);
}

/** In a record long enough to resample, DOWN calls within fewer than five blocks do not agree: they may share one cause. */
function bootstrapAgrees(calls: readonly ScoredForecast[], sign: 1 | -1): boolean {
  if (!fillsBlocks(calls[calls.length - 1].day - calls[0].day + 1)) return true;
  const { low, high } = computeAlwaysUpDifference(calls);
  if (low === null || high === null) return false;
  return sign === 1 ? low > 0 : high < 0;
}

interface HitRate {
  n: number;
  hits: number;
  /** hits / n; null without calls. */
  accuracy: number | null;
}

/** Hit rate of every h-th day from one of the `horizonDays` offsets, so that windows do not overlap. */
interface OffsetHitRate extends HitRate {
  /** Days after the first call of the record, 0 to h - 1. */
  offsetDays: number;
}

/** Hit rate of calls with its uncertainty. Shares 0 to 1, intervals 95 %. */
export interface CallStatistics extends HitRate {
  effectiveN: number;
  /** Published interval of the accuracy, by `computeShareInterval`; null without calls. */
  wilson95: Interval | null;
  /** Interval by the circular block bootstrap over days; null where the calls fill fewer than five blocks. */
  bootstrap95: Interval | null;
  offsets: OffsetHitRate[];
  /** Choice of the days called UP; null without any, or without other resolved days. */
  selection: CallSelection | null;
  /** Accuracy of always calling UP on the same days, and the difference to it; null without calls. */
  alwaysUp: { accuracy: number; difference: IntervalEstimate } | null;
}

/**
 * Whether the days called UP were chosen better than at random: calls that are all UP equal always-UP on their own days, but not on all
 * days. Shares of rises, 0 to 1.
 */
interface CallSelection {
  /** On the days called UP, on all resolved days, and on HOLD days; the last is null without any. */
  called: number;
  all: number;
  held: number | null;
  /** `called` minus `all`, and minus `held`. */
  overAll: IntervalEstimate;
  overHeld: IntervalEstimate | null;
}

/** Statistics of one horizon's calls, by ascending day; HOLD is no call. */
export function computeCallStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): CallStatistics {
  const calls = forecasts.filter(({ call }) => call !== null);
  const effectiveN = countEffective(calls, horizonDays);
  const hitRate = computeHitRate(calls);
  const { accuracy } = hitRate;
  return {
    ...hitRate,
    effectiveN,
    wilson95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
    bootstrap95: bootstrapHitRate(calls),
    offsets: computeOffsetHitRates(calls, horizonDays),
    selection: compareSelection(forecasts),
    alwaysUp: accuracy === null ? null : { accuracy: shareOf(calls, ({ rose }) => rose), difference: computeAlwaysUpDifference(calls) },
  };
}

export function computeHitRate(calls: readonly ScoredForecast[]): HitRate {
  const hits = calls.filter(isHit).length;
  return { n: calls.length, hits, accuracy: calls.length === 0 ? null : hits / calls.length };
}

export function isHit({ call, rose }: Pick<ScoredForecast, 'call' | 'rose'>): boolean {
  return (call === 'UP') === rose;
}

function bootstrapHitRate(calls: readonly ScoredForecast[]): Interval | null {
  const hits = toDailyColumn(calls, (one) => (isHit(one) ? 1 : 0));
  return blockBootstrap({
    columns: [hits, toDailyColumn(calls, () => 1)],
    statistic: ([right, all]) => right / all,
    range: SHARE_RANGE,
  });
}

function computeOffsetHitRates(calls: readonly ScoredForecast[], horizonDays: number): OffsetHitRate[] {
  if (calls.length === 0) return [];
  const first = calls[0].day;
  return Array.from({ length: horizonDays }, (_, offsetDays) => ({
    offsetDays,
    ...computeHitRate(calls.filter(({ day }) => (day - first) % horizonDays === offsetDays)),
  }));
}

const DIFFERENCE_RANGE: Interval = { low: -1, high: 1 };

/**
 * Accuracy minus that of always calling UP, paired by day; expects at least one call. The bounds are null where the DOWN calls, which
 * alone make a difference, fill fewer than five blocks.
 */
function computeAlwaysUpDifference(calls: readonly ScoredForecast[]): IntervalEstimate {
  const gain = (one: ScoredForecast) => (isHit(one) ? 1 : 0) - (one.rose ? 1 : 0);
  const gains = toDailyColumn(calls, gain);
  return bootstrapEstimate(meanBy(calls, gain), {
    columns: [gains, toDailyColumn(calls, () => 1)],
    statistic: ([sum, all]) => sum / all,
    informative: gains,
    range: DIFFERENCE_RANGE,
  });
}

/** Compares the days called UP with all days and with HOLD days of one horizon's resolved forecasts, by ascending day. */
function compareSelection(forecasts: readonly ScoredForecast[]): CallSelection | null {
  const isUp = ({ call }: ScoredForecast) => call === 'UP';
  const isHold = ({ call }: ScoredForecast) => call === null;
  if (!forecasts.some(isUp) || forecasts.every(isUp)) return null;
  const [called, all] = [getRiseShare(forecasts, isUp), getRiseShare(forecasts, () => true)];
  const held = forecasts.some(isHold) ? getRiseShare(forecasts, isHold) : null;
  return {
    ...{ called, all, held },
    overAll: compareRiseShares(forecasts, isUp, () => true),
    overHeld: held === null ? null : compareRiseShares(forecasts, isUp, isHold),
  };
}

type DayPredicate = (forecast: ScoredForecast) => boolean;

function getRiseShare(forecasts: readonly ScoredForecast[], isIn: DayPredicate): number {
  return shareOf(forecasts.filter(isIn), ({ rose }) => rose);
}

/** The bounds are null where the days of one side, or those that the sides differ by, fill fewer than five blocks. */
function compareRiseShares(forecasts: readonly ScoredForecast[], isOne: DayPredicate, isOther: DayPredicate): IntervalEstimate {
  const column = (isIn: DayPredicate) => toDailyColumn(forecasts, (one) => (isIn(one) ? 1 : 0));
  const columns = [isOne, isOther].flatMap((isIn) => [column((one) => isIn(one) && one.rose), column(isIn)]);
  const [called, others] = [column(isOne), column((one) => !isOne(one))];
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  return bootstrapEstimate(getRiseShare(forecasts, isOne) - getRiseShare(forecasts, isOther), {
    columns,
    statistic: ([rises, all, otherRises, otherAll]) => rises / all - otherRises / otherAll,
    informative: sum(called) < sum(others) ? called : others,
    range: DIFFERENCE_RANGE,
  });
}

export type RecordStatus = 'WIN' | 'LOSS' | 'HOLD' | 'VOID' | 'PENDING';

export interface RecordRow {
  day: Day;
  status: RecordStatus;
  /** No forecast was made that day; such a row is VOID. */
  missed: boolean;
  /** Null until the outcome is revealed, and for VOID. */
  scored: ScoredForecast | null;
}

export type WinRate = ReturnType<typeof computeWinRate>;

/** Win rate of one horizon's forecasts, given in the order of their sequence. */
export function computeWinRate(rows: readonly RecordRow[], horizonDays: number) {
  const calls = rows.filter(isScored);
  const outcomes = calls.map(({ status }) => status);
  const independent = selectNonOverlapping(calls, horizonDays).map(({ status }) => status);
  const accuracy = computeAccuracy(outcomes);
  const effectiveN = countEffective(selectNonOverlapping(calls, 1), horizonDays);
  return {
    n: outcomes.length,
    wins: countWins(outcomes),
    accuracy,
    effectiveN,
    // Calls with windows that do not overlap.
    independent: independent.length,
    independentWins: countWins(independent),
    independentAccuracy: computeAccuracy(independent),
    interval95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
  };
}

function countWins(outcomes: readonly Outcome[]): number {
  return outcomes.filter((outcome) => outcome === 'WIN').length;
}

type ScoredCall = RecordRow & { status: Outcome };

export function isScored(row: RecordRow): row is ScoredCall {
  return row.status === 'WIN' || row.status === 'LOSS';
}
