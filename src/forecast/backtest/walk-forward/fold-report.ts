import { formatDay } from '../../day.ts';
import { meanBy, shareOf } from '../../math/mean.ts';
import { BLOCK_DAYS } from '../../model.ts';
import { boundedLogLoss, brierScore } from '../../scoring.ts';
import { computeHitRate } from '../../statistics/call-statistics.ts';
import { type Fold, isDirectionRight, type OutOfSampleDay } from '../out-of-sample.ts';

/** Figures of one fold. Days as `YYYY-MM-DD`, shares 0 to 1, lower scores are better. */
export interface FoldReport {
  /** From 1. */
  fold: number;
  modelVersion: string;
  trainFrom: string;
  trainTo: string;
  from: string;
  to: string;
  n: number;
  /** Share of rises: the accuracy of always calling UP. */
  base: number;
  /** Share of days on which the likelier direction came true, HOLD included. */
  accuracy: number;
  /** BUY and SELL, and those that came true. */
  calls: number;
  hits: number;
  /** Mean squared error of P(up), and of the base rate known at the time. */
  brier: number;
  climatologyBrier: number;
  /** Mean log loss, natural logarithm. */
  logScore: number;
  /** Mean CRPS in log-return units: of the distribution, and of the returns of all training days. */
  crps: number;
  climatologyCrps: number;
  /** Mean CRPS of the returns of the last `RECENT_RETURN_DAYS` training days. */
  recentCrps: number;
  coverage80: number;
}

const HALF_CENTRAL_80 = 0.4;

export function isInCentral80({ distribution }: OutOfSampleDay): boolean {
  return Math.abs(distribution.pit - 0.5) <= HALF_CENTRAL_80;
}

export function buildFoldReport({ fold, model, days }: Fold): FoldReport {
  const { n: calls, hits } = computeHitRate(days.filter(({ call }) => call !== null));
  return {
    fold,
    modelVersion: model.modelVersion,
    trainFrom: formatDay(model.trainFrom),
    trainTo: formatDay(model.trainTo),
    from: formatDay(days[0].day),
    to: formatDay(days[0].day + BLOCK_DAYS - 1),
    n: days.length,
    base: shareOf(days, ({ rose }) => rose),
    accuracy: shareOf(days, isDirectionRight),
    calls,
    hits,
    brier: meanBy(days, ({ pUp, rose }) => brierScore(pUp, rose)),
    climatologyBrier: meanBy(days, ({ climatology, rose }) => brierScore(climatology, rose)),
    logScore: meanBy(days, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    crps: meanBy(days, ({ distribution }) => distribution.crps),
    climatologyCrps: meanBy(days, ({ climatologyCrps }) => climatologyCrps),
    recentCrps: meanBy(days, ({ recentCrps }) => recentCrps),
    coverage80: shareOf(days, isInCentral80),
  };
}
