import { blockBootstrap, SHARE_RANGE } from '../../math/block-bootstrap.ts';
import { toDirection } from '../../signal.ts';
import { testAdvantageOverAlwaysUp } from '../../statistics/advantage.ts';
import { type CallStatistics, computeCallStatistics, type IntervalEstimate } from '../../statistics/call-statistics.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../statistics/record-statistics.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import { computeReferenceSkill, type ReferenceSkill } from '../skill-against-reference.ts';
import { isInCentral80 } from './fold-report.ts';
import { estimateIndependentObservations, type IndependentObservations } from './independent-observations.ts';
import { computeQuantileSkills, type QuantileSkill } from './quantile-skill.ts';

/** What all folds of one horizon amount to, with error bars. Shares 0 to 1, scores lower is better, intervals 95 %. */
export interface PooledReport {
  /** Days forecast. */
  n: number;
  /** How many of them were called how. */
  signals: { buy: number; sell: number; hold: number };
  /** Which direction was the likelier one, HOLD included. */
  directions: { up: number; down: number };
  /** Of the forecasts as they were called: HOLD is no call. */
  statistics: RecordStatistics;
  /** Of the likelier direction of every day, HOLD included. */
  direction: CallStatistics;
  /** Whether that is better than always saying UP (1), worse (-1), or cannot be told (0). */
  advantage: -1 | 0 | 1;
  /** CRPS of the distribution against that of the returns of all training days as they were, in log-return units. */
  crpsSkill: ReferenceSkill;
  /** The same against those of the last `RECENT_DAYS` training days, which the distribution has its shape from. */
  recentCrpsSkill: ReferenceSkill;
  /** Share of outcomes within the central 80 % of the distribution, with its interval by the block bootstrap. */
  coverage80: IntervalEstimate;
  quantileSkills: QuantileSkill[];
  worth: IndependentObservations;
}

/** What the folds of one horizon amount to; null without any. */
export function buildPooledReport(folds: readonly Fold[], horizonDays: number): PooledReport | null {
  const days = folds.flatMap((fold) => fold.days);
  if (days.length === 0) return null;
  const countOf = (signal: string) => days.filter((day) => day.signal === signal).length;
  const directions = days.map((day) => ({ ...day, call: toDirection(day.pUp) }));
  const up = directions.filter(({ call }) => call === 'UP').length;
  return {
    n: days.length,
    signals: { buy: countOf('BUY'), sell: countOf('SELL'), hold: countOf('HOLD') },
    directions: { up, down: days.length - up },
    statistics: computeRecordStatistics(days, horizonDays),
    direction: computeCallStatistics(directions, horizonDays),
    advantage: testAdvantageOverAlwaysUp(directions, horizonDays),
    crpsSkill: computeCrpsSkill(days, ({ climatologyCrps }) => climatologyCrps),
    recentCrpsSkill: computeCrpsSkill(days, ({ recentCrps }) => recentCrps),
    coverage80: computeCoverage80(days),
    quantileSkills: computeQuantileSkills(folds),
    worth: estimateIndependentObservations(days, horizonDays),
  };
}

function computeCrpsSkill(days: readonly OutOfSampleDay[], crpsOf: (day: OutOfSampleDay) => number): ReferenceSkill {
  // Past returns have a spread, so that their score is above 0.
  return computeReferenceSkill(days.map((one) => ({ day: one.day, ours: one.distribution.crps, theirs: crpsOf(one) })))!;
}

function computeCoverage80(days: readonly OutOfSampleDay[]): IntervalEstimate {
  const inside = days.map((one) => (isInCentral80(one) ? 1 : 0));
  const columns = [inside, days.map(() => 1)];
  const interval = blockBootstrap({ columns, statistic: ([held, all]) => held / all, range: SHARE_RANGE });
  const value = inside.filter((one) => one === 1).length / days.length;
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
