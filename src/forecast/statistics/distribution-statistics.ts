import type { Day } from '../day.ts';
import { countEffective } from '../math/effective-count.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { bootstrapShares } from '../math/share-bootstrap.ts';
import { computeShareInterval, type Interval } from '../scoring.ts';
import { type DaySpan, type ScoredForecast, spanOf, toDailyColumn } from './scored-forecast.ts';

/** Observed share with its interval, by the block bootstrap where the outcomes fill five blocks, else Wilson's on their effective number. */
interface Coverage {
  observed: number;
  interval95: Interval;
}

/** Coverage of the outcomes of windows that open on one weekday. */
export interface WeekdayCoverage {
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
