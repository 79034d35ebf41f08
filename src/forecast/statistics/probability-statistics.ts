import { bootstrapEstimate, type IntervalEstimate } from '../math/block-bootstrap.ts';
import { countEffective } from '../math/effective-count.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { boundedLogLoss, brierScore, computeShareInterval, type Interval } from '../scoring.ts';
import { decomposeBrier, type MurphyDecomposition } from './murphy.ts';
import { type ScoredForecast, toDailyColumn } from './scored-forecast.ts';

/** Forecast and observed frequency within one bin of probabilities; empty bins are omitted. */
export interface ReliabilityRow {
  /** Lower bound, inclusive; the upper one is exclusive, except 1. */
  from: number;
  to: number;
  n: number;
  effectiveN: number;
  meanProbability: number;
  observedShare: number;
  /** Wilson interval of the share on `effectiveN` trials. */
  interval95: Interval;
}

/** Skill 1 - score / reference with its 95 % interval, and the reference's mean score; positive skill is better than the reference. */
type BrierSkill = IntervalEstimate & { brier: number };

/** Quality of the probabilities of UP, HOLD included. Lower scores are better. */
export interface ProbabilityStatistics {
  n: number;
  effectiveN: number;
  brier: number;
  /** Mean log loss, natural logarithm; 0.6931 for a constant one half. */
  logScore: number;
  /** Brier skill against the base rate known at the time; null where that is unknown. */
  climatologySkill: BrierSkill | null;
  /** Brier skill against P(up) = 1; null as long as that has never been wrong. */
  alwaysUpSkill: BrierSkill | null;
  murphy: MurphyDecomposition;
  reliability: ReliabilityRow[];
}

/** Bins of five points, since probabilities cluster around the base rate. */
const BIN_COUNT = 20;

/** Statistics of one horizon's probabilities, by ascending day; null without any. */
export function computeProbabilityStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): ProbabilityStatistics | null {
  if (forecasts.length === 0) return null;
  const model = (one: ScoredForecast) => brierScore(one.pUp, one.rose);
  const isBaseRateKnown = forecasts.every(({ climatology }) => climatology !== null);
  return {
    n: forecasts.length,
    effectiveN: countEffective(forecasts, horizonDays),
    brier: meanBy(forecasts, model),
    logScore: meanBy(forecasts, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    climatologySkill: isBaseRateKnown ? computeSkill(forecasts, model, ({ climatology, rose }) => brierScore(climatology!, rose)) : null,
    alwaysUpSkill: computeSkill(forecasts, model, ({ rose }) => brierScore(1, rose)),
    murphy: decomposeBrier(
      forecasts.map(({ pUp, rose }) => ({ p: pUp, happened: rose })),
      BIN_COUNT,
    )!,
    reliability: buildReliabilityRows(forecasts, horizonDays),
  };
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

function buildReliabilityRows(forecasts: readonly ScoredForecast[], horizonDays: number): ReliabilityRow[] {
  const groups = Map.groupBy(forecasts, ({ pUp }) => Math.min(BIN_COUNT - 1, Math.floor(pUp * BIN_COUNT)));
  return [...groups].sort(([a], [b]) => a - b).map(([bin, members]) => buildReliabilityRow(bin, members, horizonDays));
}

function buildReliabilityRow(bin: number, members: readonly ScoredForecast[], horizonDays: number): ReliabilityRow {
  const observedShare = shareOf(members, ({ rose }) => rose);
  const effectiveN = countEffective(members, horizonDays);
  return {
    from: bin / BIN_COUNT,
    to: (bin + 1) / BIN_COUNT,
    n: members.length,
    effectiveN,
    meanProbability: meanBy(members, ({ pUp }) => pUp),
    observedShare,
    interval95: computeShareInterval(observedShare, effectiveN),
  };
}
