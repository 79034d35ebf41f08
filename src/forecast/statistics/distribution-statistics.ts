import type { Day } from '../day.ts';
import { blockBootstrap, SHARE_RANGE } from '../math/block-bootstrap.ts';
import { countEffective } from '../math/effective-count.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { computeShareInterval, type Interval } from '../scoring.ts';
import { type ScoredForecast, toDailyColumn } from './scored-forecast.ts';

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
  const all: Outcomes = { known, isMember: () => true, horizonDays };
  return {
    n: known.length,
    effectiveN: countEffective(known, horizonDays),
    crps: meanBy(known, ({ crps }) => crps),
    coverage: computeBands(all),
    quantiles: QUANTILE_LEVELS.map((level) => ({ level, ...computeCoverage(all, ({ pit }) => pit <= level) })),
    weekdays: WEEKDAYS.flatMap((weekday, index) => {
      const own: Outcomes = { ...all, isMember: ({ day }) => getOpeningWeekday(day) === index };
      const n = known.filter(own.isMember).length;
      return n === 0 ? [] : [{ weekday, n, coverage: computeBands(own) }];
    }),
  };
}

/** Members of a record, whose days are resampled together so that all shares have the same draws. */
interface Outcomes {
  known: readonly KnownOutcome[];
  isMember(one: KnownOutcome): boolean;
  horizonDays: number;
}

function computeBands(outcomes: Outcomes): DistributionStatistics['coverage'] {
  return CENTRAL_BANDS.map((nominal) => ({ nominal, ...computeCoverage(outcomes, ({ pit }) => Math.abs(pit - 0.5) <= nominal / 2) }));
}

function computeCoverage({ known, isMember, horizonDays }: Outcomes, isIn: (one: KnownOutcome) => boolean): Coverage {
  const members = known.filter(isMember);
  const observed = shareOf(members, isIn);
  const bootstrap = blockBootstrap({
    columns: [toDailyColumn(known, (one) => (isMember(one) && isIn(one) ? 1 : 0)), toDailyColumn(known, (one) => (isMember(one) ? 1 : 0))],
    statistic: ([held, all]) => held / all,
    range: SHARE_RANGE,
  });
  return { observed, interval95: bootstrap ?? computeShareInterval(observed, countEffective(members, horizonDays)) };
}

/** Of the day after the forecast, on which its window opens: 0 for Monday to 6 for Sunday. Day 0 was a Thursday. */
function getOpeningWeekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}
