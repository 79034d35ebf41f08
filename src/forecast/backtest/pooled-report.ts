import { directionOf } from '../signal.ts';
import { advantageOverAlwaysUp } from '../statistics/advantage.ts';
import { blockBootstrap, SHARE_RANGE } from '../statistics/block-bootstrap.ts';
import { type CallStatistics, callStatistics, type Difference } from '../statistics/call-statistics.ts';
import { type RecordStatistics, recordStatistics } from '../statistics/record-statistics.ts';
import { isCentral80 } from './fold-report.ts';
import type { Fold, OutOfSampleDay } from './out-of-sample.ts';
import { type QuantileSkill, quantileSkills } from './quantile-skill.ts';
import { type SkillAgainst, skillAgainst } from './skill-against.ts';
import { type Worth, worthOf } from './worth.ts';

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
  crpsSkill: SkillAgainst;
  /** The same against those of the last `RECENT_DAYS` training days, which the distribution has its shape from. */
  recentCrpsSkill: SkillAgainst;
  /** Share of outcomes within the central 80 % of the distribution, with its interval by the block bootstrap. */
  coverage80: Difference;
  quantileSkills: QuantileSkill[];
  worth: Worth;
}

/** What the folds of one horizon amount to; null without any. */
export function pooledReport(folds: readonly Fold[], horizonDays: number): PooledReport | null {
  const days = folds.flatMap((fold) => fold.days);
  if (days.length === 0) return null;
  const countOf = (signal: string) => days.filter((day) => day.signal === signal).length;
  const directions = days.map((day) => ({ ...day, call: directionOf(day.pUp) }));
  const up = directions.filter(({ call }) => call === 'UP').length;
  return {
    n: days.length,
    signals: { buy: countOf('BUY'), sell: countOf('SELL'), hold: countOf('HOLD') },
    directions: { up, down: days.length - up },
    statistics: recordStatistics(days, horizonDays),
    direction: callStatistics(directions, horizonDays),
    advantage: advantageOverAlwaysUp(directions, horizonDays),
    crpsSkill: crpsSkillAgainst(days, ({ climatologyCrps }) => climatologyCrps),
    recentCrpsSkill: crpsSkillAgainst(days, ({ recentCrps }) => recentCrps),
    coverage80: coverage80Of(days),
    quantileSkills: quantileSkills(folds),
    worth: worthOf(days, horizonDays),
  };
}

function crpsSkillAgainst(days: readonly OutOfSampleDay[], crpsOf: (day: OutOfSampleDay) => number): SkillAgainst {
  // Past returns have a spread, so that their score is above 0.
  return skillAgainst(days.map((one) => ({ day: one.day, ours: one.distribution.crps, theirs: crpsOf(one) })))!;
}

function coverage80Of(days: readonly OutOfSampleDay[]): Difference {
  const inside = days.map((one) => (isCentral80(one) ? 1 : 0));
  const columns = [inside, days.map(() => 1)];
  const interval = blockBootstrap({ columns, statistic: ([held, all]) => held / all, range: SHARE_RANGE });
  const value = inside.filter((one) => one === 1).length / days.length;
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
