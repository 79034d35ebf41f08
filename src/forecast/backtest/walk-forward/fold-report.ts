import { formatDay } from '../../day.ts';
import { BLOCK_DAYS } from '../../model.ts';
import { boundedLogLoss, brierScore } from '../../scoring.ts';
import { toDirection } from '../../signal.ts';
import { computeHitRate } from '../../statistics/call-statistics.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';

/** One fold in figures. Days as `YYYY-MM-DD`, shares 0 to 1, scores lower is better. */
export interface FoldReport {
  /** From 1. */
  fold: number;
  modelVersion: string;
  /** First and last day that the model learned from. */
  trainFrom: string;
  trainTo: string;
  /** First and last day that was forecast. */
  from: string;
  to: string;
  /** Days forecast. */
  n: number;
  /** Share of rises: what always saying UP scores. */
  base: number;
  /** Share of days on which the likelier direction came true, HOLD included. */
  accuracy: number;
  /** BUY and SELL, and those of them that came true. */
  calls: number;
  hits: number;
  /** Mean squared error of P(up), and of the base rate known at the time. */
  brier: number;
  climatologyBrier: number;
  /** Mean log loss, natural logarithm. */
  logScore: number;
  /** Mean continuous ranked probability score, in log-return units; of the distribution, and of the returns of all training days. */
  crps: number;
  climatologyCrps: number;
  /** The same of the last `RECENT_DAYS` training days alone. */
  recentCrps: number;
  /** Share of outcomes within the central 80 % of the distribution. */
  coverage80: number;
}

/** Half the width of the central interval, in probability. */
const HALF_CENTRAL_80 = 0.4;

/** Whether an outcome lay within the central 80 % of what was said. */
export function isInCentral80({ distribution }: OutOfSampleDay): boolean {
  return Math.abs(distribution.pit - 0.5) <= HALF_CENTRAL_80;
}

/** What came of one fold. */
export function buildFoldReport({ fold, model, days }: Fold): FoldReport {
  const { n: calls, hits } = computeHitRate(days.filter(({ call }) => call !== null));
  const mean = (numberOf: (day: OutOfSampleDay) => number) => days.reduce((sum, day) => sum + numberOf(day), 0) / days.length;
  const share = (isSo: (day: OutOfSampleDay) => boolean) => days.filter(isSo).length / days.length;
  return {
    fold,
    modelVersion: model.modelVersion,
    trainFrom: formatDay(model.trainFrom),
    trainTo: formatDay(model.trainTo),
    from: formatDay(days[0].day),
    to: formatDay(days[0].day + BLOCK_DAYS - 1),
    n: days.length,
    base: share(({ rose }) => rose),
    accuracy: share(({ pUp, rose }) => (toDirection(pUp) === 'UP') === rose),
    calls,
    hits,
    brier: mean(({ pUp, rose }) => brierScore(pUp, rose)),
    climatologyBrier: mean(({ climatology, rose }) => brierScore(climatology, rose)),
    logScore: mean(({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    crps: mean(({ distribution }) => distribution.crps),
    climatologyCrps: mean(({ climatologyCrps }) => climatologyCrps),
    recentCrps: mean(({ recentCrps }) => recentCrps),
    coverage80: share(isInCentral80),
  };
}
