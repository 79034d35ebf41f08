import { blockBootstrap, bootstrapEstimate, type IntervalEstimate, SHARE_RANGE } from '../math/block-bootstrap.ts';
import { countEffective } from '../math/effective-count.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { computeShareInterval, type Interval } from '../scoring.ts';
import { type ScoredForecast, toDailyColumn } from './scored-forecast.ts';

export interface HitRate {
  n: number;
  hits: number;
  /** hits / n; null without calls. */
  accuracy: number | null;
}

/** Hit rate of every h-th day from one of the `horizonDays` offsets, so that windows do not overlap. */
export interface OffsetHitRate extends HitRate {
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
export interface CallSelection {
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
export function computeAlwaysUpDifference(calls: readonly ScoredForecast[]): IntervalEstimate {
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
export function compareSelection(forecasts: readonly ScoredForecast[]): CallSelection | null {
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
