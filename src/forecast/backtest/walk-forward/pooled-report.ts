import { bootstrapEstimate, type IntervalEstimate, SHARE_RANGE } from '../../math/block-bootstrap.ts';
import { shareOf } from '../../math/mean.ts';
import type { HorizonDays } from '../../model.ts';
import { toDirection } from '../../signal.ts';
import { testAdvantageOverAlwaysUp } from '../../statistics/advantage.ts';
import { type CallStatistics, computeCallStatistics } from '../../statistics/call-statistics.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../statistics/record-statistics.ts';
import type { BacktestHistory, Fold, OutOfSampleDay } from '../out-of-sample.ts';
import { computeReferenceSkill, type ReferenceSkill } from '../skill-against-reference.ts';
import { isInCentral80 } from './fold-report.ts';
import { computeGarchSkill } from './garch-skill.ts';
import { estimateIndependentObservations, type IndependentObservations } from './independent-observations.ts';
import { computeQuantileSkills, type QuantileSkill } from './quantile-skill.ts';

/** Statistics over all folds of one horizon. Shares 0 to 1, lower scores are better, intervals 95 %. */
export interface PooledReport {
  n: number;
  signals: { buy: number; sell: number; hold: number };
  directions: { up: number; down: number };
  /** Of the calls; HOLD is no call. */
  statistics: RecordStatistics;
  /** Of the likelier direction of every day, HOLD included. */
  direction: CallStatistics;
  /** Whether that is better than always calling UP (1), worse (-1), or neither significantly (0). */
  advantage: -1 | 0 | 1;
  /** CRPS skill against the returns of all training days. */
  crpsSkill: ReferenceSkill;
  /** CRPS skill against the last `RECENT_RETURN_DAYS` training days, which shape the distribution. */
  recentCrpsSkill: ReferenceSkill;
  /** CRPS skill against GARCH(1,1)-t. */
  garchCrpsSkill: ReferenceSkill;
  coverage80: IntervalEstimate;
  quantileSkills: QuantileSkill[];
  worth: IndependentObservations;
}

export function buildPooledReport(history: BacktestHistory, folds: readonly Fold[], horizonDays: HorizonDays): PooledReport | null {
  const own = buildOwnReport(folds, horizonDays);
  return own && { ...own, garchCrpsSkill: computeGarchSkill(history, folds, horizonDays) };
}

/** What needs no model but the one of the folds. */
export type OwnReport = Omit<PooledReport, 'garchCrpsSkill'>;

/** Null without a day. */
export function buildOwnReport(folds: readonly Fold[], horizonDays: HorizonDays): OwnReport | null {
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
    coverage80: bootstrapEstimate(shareOf(days, isInCentral80), {
      columns: [days.map((one) => (isInCentral80(one) ? 1 : 0)), days.map(() => 1)],
      statistic: ([held, all]) => held / all,
      range: SHARE_RANGE,
    }),
    quantileSkills: computeQuantileSkills(folds),
    worth: estimateIndependentObservations(days, horizonDays),
  };
}

function computeCrpsSkill(days: readonly OutOfSampleDay[], crpsOf: (day: OutOfSampleDay) => number): ReferenceSkill {
  // Past returns vary, so the reference's score is above 0.
  return computeReferenceSkill(days.map((one) => ({ day: one.day, ours: one.distribution.crps, theirs: crpsOf(one) })))!;
}
