import { OracleError } from '../errors.ts';
import {
  blockBootstrap,
  bootstrapEstimate,
  bootstrapShares,
  chooseBlockDays,
  countEffective,
  type IntervalEstimate,
  MIN_BLOCKS,
  requireAscending,
  SHARE_RANGE,
} from './bootstrap.ts';
import { type Day, getWeekday } from './day.ts';
import { CENTRAL_SHARES } from './distribution.ts';
import { formatPercent, meanBy, shareOf, sum } from './math.ts';
import {
  boundedLogLoss,
  brierScore,
  computeAccuracy,
  computeShareInterval,
  type Direction,
  FORECAST_LEVELS,
  type Interval,
  type Outcome,
  selectNonOverlapping,
} from './signal.ts';

type KnownOutcome = { day: Day } & NonNullable<ScoredForecast['distribution']>;

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Statistics over the forecasts of one horizon that have a distribution; null without any. */
export function computeDistributionStatistics(forecasts: readonly ScoredForecast[], horizonDays: number) {
  const known = forecasts.flatMap(({ day, distribution }): KnownOutcome[] => (distribution === null ? [] : [{ day, ...distribution }]));
  if (known.length === 0) return null;
  const all: Outcomes = { members: known, span: spanOf(known), horizonDays };
  return {
    n: known.length,
    effectiveN: countEffective(known, horizonDays),
    /** Mean continuous ranked probability score, in log-return units; lower is better. */
    crps: meanBy(known, ({ crps }) => crps),
    /** By nominal share of a central band of the distribution. */
    coverage: computeBands(all),
    quantiles: computeCoverage(all, FORECAST_LEVELS, (pit, level) => pit <= level),
    /** By the day on which the windows open, Monday to Sunday; weekdays without an outcome left out. */
    weekdays: WEEKDAYS.flatMap((weekday, index) => {
      const members = known.filter(({ day }) => getWeekday(day + 1) === index);
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

function computeBands(outcomes: Outcomes) {
  const coverage = computeCoverage(outcomes, CENTRAL_SHARES, (pit, nominal) => Math.abs(pit - 0.5) <= nominal / 2);
  return coverage.map(({ level: nominal, ...observed }) => ({ nominal, ...observed }));
}

/**
 * Observed share of the outcomes by level, with its interval, by the block bootstrap where the outcomes fill five blocks, else Wilson's on
 * their effective number.
 */
function computeCoverage(
  { members, span, horizonDays }: Outcomes,
  levels: readonly number[],
  isIn: (pit: number, level: number) => boolean,
) {
  const flag = (isMember: (pit: number) => boolean) => toDailyColumn(members, ({ pit }) => (isMember(pit) ? 1 : 0), span);
  const held = levels.map((level) => flag((pit) => isIn(pit, level)));
  const all = flag(() => true);
  const intervals = bootstrapShares(held, all);
  return levels.map((level, index) => {
    const observed = shareOf(members, ({ pit }) => isIn(pit, level));
    return { level, observed, interval95: intervals[index] ?? computeShareInterval(observed, countEffective(members, horizonDays)) };
  });
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
  /** The same of the last four years alone. */
  climatology4y?: number | null;
  /** CRPS in log-return units, and the probability integral transform of the outcome, 0 to 1; null where unknown. */
  distribution: { crps: number; pit: number } | null;
}

/** Consecutive days. */
type DaySpan = ReturnType<typeof spanOf>;

function spanOf(forecasts: readonly { day: Day }[]) {
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

/** Skill 1 - score / reference with its 95 % interval, and the reference's mean score; positive skill is better than the reference. */
type BrierSkill = IntervalEstimate & { brier: number };

/** Bins of five points, since probabilities cluster around the base rate. */
const BIN_COUNT = 20;

/** Quality of one horizon's probabilities of UP, HOLD included, by ascending day; null without any. Lower scores are better. */
export function computeProbabilityStatistics(forecasts: readonly ScoredForecast[], horizonDays: number) {
  if (forecasts.length === 0) return null;
  const outcomes = forecasts.map(({ day, pUp, rose }) => ({ day, p: pUp, happened: rose }));
  const model = (one: ScoredForecast) => brierScore(one.pUp, one.rose);
  const skillAgainst = (rateOf: (one: ScoredForecast) => number | null | undefined) => {
    const isKnown = forecasts.every((one) => typeof rateOf(one) === 'number');
    return isKnown ? computeSkill(forecasts, model, (one) => brierScore(rateOf(one)!, one.rose)) : null;
  };
  return {
    n: forecasts.length,
    effectiveN: countEffective(forecasts, horizonDays),
    brier: meanBy(forecasts, model),
    /** Mean log loss, natural logarithm; 0.6931 for a constant one half. */
    logScore: meanBy(forecasts, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    /** Brier skill against the base rate known at the time; null where that is unknown. */
    climatologySkill: skillAgainst(({ climatology }) => climatology),
    /** The same against that of the last four years of training, which is harder to beat. */
    climatology4ySkill: skillAgainst(({ climatology4y }) => climatology4y),
    /** Brier skill against P(up) = 1; null as long as that has never been wrong. */
    alwaysUpSkill: computeSkill(forecasts, model, ({ rose }) => brierScore(1, rose)),
    murphy: decomposeBrier(outcomes, BIN_COUNT)!,
    reliability: computeReliability(outcomes, BIN_COUNT, horizonDays),
  };
}

/** Forecast and observed frequency of one horizon in bins of equal width, empty ones omitted. @param outcomes by ascending day */
export function computeReliability(outcomes: readonly (ProbabilityOutcome & { day: Day })[], binCount: number, horizonDays: number) {
  return [...Map.groupBy(outcomes, ({ p }) => Math.min(binCount - 1, Math.floor(p * binCount)))]
    .sort(([a], [b]) => a - b)
    .map(([bin, members]) => buildReliabilityRow(bin, binCount, members, countEffective(members, horizonDays)));
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

/**
 * Forecast and observed frequency within one bin of probabilities, from its lower bound (inclusive) to the upper one (exclusive, except 1).
 */
function buildReliabilityRow(bin: number, binCount: number, members: readonly ProbabilityOutcome[], effectiveN: number) {
  const observedShare = shareOf(members, ({ happened }) => happened);
  return {
    from: bin / binCount,
    to: (bin + 1) / binCount,
    n: members.length,
    effectiveN,
    meanProbability: meanBy(members, ({ p }) => p),
    observedShare,
    interval95: computeShareInterval(observedShare, effectiveN),
  };
}

/**
 * Brier score = reliability - resolution + uncertainty + withinBins (Murphy 1973; the last term, for bins of unequal probabilities, by
 * Stephenson et al. 2008), over bins of equal width; null without forecasts. All in units of the Brier score.
 */
export function decomposeBrier(forecasts: readonly ProbabilityOutcome[], bins: number) {
  const n = forecasts.length;
  if (n === 0) return null;
  const groups = Map.groupBy(forecasts, ({ p }) => Math.min(bins - 1, Math.floor(p * bins)));
  const share = shareOf(forecasts, ({ happened }) => happened);
  // Squared distance of forecast and observed frequency by bin; lower is better.
  let reliability = 0;
  // Variance of observed frequencies between bins; higher is better.
  let resolution = 0;
  for (const group of groups.values()) {
    const observed = shareOf(group, ({ happened }) => happened);
    reliability += (group.length / n) * (meanBy(group, ({ p }) => p) - observed) ** 2;
    resolution += (group.length / n) * (observed - share) ** 2;
  }
  const brier = meanBy(forecasts, ({ p, happened }) => (p - (happened ? 1 : 0)) ** 2);
  // Variance of the outcomes, independent of the forecasts.
  const uncertainty = share * (1 - share);
  return { brier, reliability, resolution, uncertainty, withinBins: brier - reliability + resolution - uncertainty };
}

interface ProbabilityOutcome {
  p: number;
  happened: boolean;
}

/** Forecast and observed frequency within one tenth of the probability range. */
interface ReliabilityBin {
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
    const effectiveN = effectiveCountOf(bin);
    if (bin.length > 0) return buildReliabilityRow(index, RELIABILITY_BIN_COUNT, bin, effectiveN);
    const [from, to] = [index / RELIABILITY_BIN_COUNT, (index + 1) / RELIABILITY_BIN_COUNT];
    return { from, to, n: 0, effectiveN, meanProbability: null, observedShare: null, interval95: null };
  });
}

function toBinIndex(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(RELIABILITY_BIN_COUNT - 1, Math.floor(p * RELIABILITY_BIN_COUNT));
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
  if (share.interval95 === null)
    return holds === 0 ? 'nothing resolved yet: no claim can be made' : `no calls: all ${holds} resolved forecasts were HOLD`;
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

/** Whether a record of `days` days is long enough to resample. */
export function fillsBlocks(days: number, blockDays = chooseBlockDays(days)): boolean {
  return days >= MIN_BLOCKS * blockDays;
}

/** Hit rate of one horizon's calls with its uncertainty, by ascending day; HOLD is no call. Shares 0 to 1, intervals 95 %. */
export function computeCallStatistics(forecasts: readonly ScoredForecast[], horizonDays: number) {
  const calls = forecasts.filter(({ call }) => call !== null);
  const effectiveN = countEffective(calls, horizonDays);
  const hitRate = computeHitRate(calls);
  const { accuracy } = hitRate;
  return {
    ...hitRate,
    effectiveN,
    /** Published interval of the accuracy, by `computeShareInterval`; null without calls. */
    wilson95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
    /** Interval by the circular block bootstrap over days; null where the calls fill fewer than five blocks. */
    bootstrap95: bootstrapHitRate(calls),
    offsets: computeOffsetHitRates(calls, horizonDays),
    /** Choice of the days called UP; null without any, or without other resolved days. */
    selection: compareSelection(forecasts),
    /** Accuracy of always calling UP on the same days, and the difference to it; null without calls. */
    alwaysUp: accuracy === null ? null : { accuracy: shareOf(calls, ({ rose }) => rose), difference: computeAlwaysUpDifference(calls) },
  };
}

/** The accuracy is hits / n; null without calls. */
export function computeHitRate(calls: readonly ScoredForecast[]) {
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

/** Hit rates of every h-th day from each of the `horizonDays` offsets (days after the first call), so that windows do not overlap. */
function computeOffsetHitRates(calls: readonly ScoredForecast[], horizonDays: number) {
  if (calls.length === 0) return [];
  const first = calls[0].day;
  return Array.from({ length: horizonDays }, (_, offsetDays) => ({
    offsetDays,
    ...computeHitRate(calls.filter(({ day }) => (day - first) % horizonDays === offsetDays)),
  }));
}

export const DIFFERENCE_RANGE: Interval = { low: -1, high: 1 };

/**
 * Accuracy minus that of always calling UP, paired by day; expects at least one call. The bounds are null where the DOWN calls, which
 * alone make a difference, fill fewer than five blocks.
 */
function computeAlwaysUpDifference(calls: readonly ScoredForecast[]): IntervalEstimate {
  const gain = (one: ScoredForecast) => (isHit(one) ? 1 : 0) - (one.rose ? 1 : 0);
  const gains = toDailyColumn(calls, gain);
  return bootstrapEstimate(meanBy(calls, gain), {
    columns: [gains, toDailyColumn(calls, () => 1)],
    statistic: ([gained, all]) => gained / all,
    informative: gains,
    range: DIFFERENCE_RANGE,
  });
}

/**
 * Whether the days called UP were chosen better than at random, against all days and HOLD days of one horizon's resolved forecasts, by
 * ascending day: calls that are all UP equal always-UP on their own days, but not on all days. Shares of rises, 0 to 1.
 */
function compareSelection(forecasts: readonly ScoredForecast[]) {
  const isUp = ({ call }: ScoredForecast) => call === 'UP';
  const isHold = ({ call }: ScoredForecast) => call === null;
  if (!forecasts.some(isUp) || forecasts.every(isUp)) return null;
  const [called, all] = [getRiseShare(forecasts, isUp), getRiseShare(forecasts, () => true)];
  const held = forecasts.some(isHold) ? getRiseShare(forecasts, isHold) : null;
  return {
    /** On the days called UP, on all resolved days, and on HOLD days; the last is null without any. */
    ...{ called, all, held },
    /** `called` minus `all`, and minus `held`. */
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
