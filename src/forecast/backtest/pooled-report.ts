import { directionOf } from '../signal.ts';
import { type CallStatistics, callStatistics } from '../statistics/call-statistics.ts';
import { type RecordStatistics, recordStatistics } from '../statistics/record-statistics.ts';
import type { BacktestHistory, Fold } from './out-of-sample.ts';
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
  /** CRPS of the distribution against that of past returns as they were, in log-return units. */
  crpsSkill: SkillAgainst;
  quantileSkills: QuantileSkill[];
  worth: Worth;
}

/** What the folds of one horizon amount to; null without any. */
export function pooledReport(history: BacktestHistory, folds: readonly Fold[], horizonDays: number): PooledReport | null {
  const days = folds.flatMap((fold) => fold.days);
  if (days.length === 0) return null;
  const countOf = (signal: string) => days.filter((day) => day.signal === signal).length;
  const directions = days.map((day) => ({ ...day, call: directionOf(day.pUp) }));
  const up = directions.filter(({ call }) => call === 'UP').length;
  const scores = days.map(({ day, distribution, climatologyCrps }) => ({ day, ours: distribution.crps, theirs: climatologyCrps }));
  return {
    n: days.length,
    signals: { buy: countOf('BUY'), sell: countOf('SELL'), hold: countOf('HOLD') },
    directions: { up, down: days.length - up },
    statistics: recordStatistics(days, horizonDays),
    direction: callStatistics(directions, horizonDays),
    // Past returns have a spread, so that their score is above 0.
    crpsSkill: skillAgainst(scores)!,
    quantileSkills: quantileSkills(history, folds),
    worth: worthOf(days, horizonDays),
  };
}
