import { blockBootstrap } from '../math/block-bootstrap.ts';
import { computeEffectiveCount } from '../math/effective-count.ts';
import { computeShareInterval } from '../math/share-interval.ts';
import { boundedLogLoss, brierScore, type Interval } from '../scoring.ts';
import type { IntervalEstimate } from './call-statistics.ts';
import { decomposeBrier, type MurphyDecomposition } from './murphy.ts';
import type { ProbabilityOutcome } from './reliability.ts';
import { type ScoredForecast, toDailyColumn } from './scored-forecast.ts';

/** What was said and what happened within one bin of probabilities; empty bins are left out. */
export interface ReliabilityRow {
  /** Lower bound, included; the upper one is not, except 1. */
  from: number;
  to: number;
  n: number;
  effectiveN: number;
  meanProbability: number;
  observedShare: number;
  /** Wilson interval of the share on `effectiveN` trials. */
  interval95: Interval;
}

/** 1 - score / score of the reference; above zero the model is better. With its 95 % interval by the block bootstrap. */
export type SkillEstimate = IntervalEstimate;

/** How good the probabilities of UP were, HOLD included. Scores: lower is better. */
export interface ProbabilityStatistics {
  n: number;
  effectiveN: number;
  brier: number;
  /** Mean log loss, natural logarithm; saying one half always scores 0.6931. */
  logScore: number;
  /** Brier skill against the base rate known at the time; null where that is not known. */
  climatologySkill: (SkillEstimate & { brier: number }) | null;
  /** Brier skill against the certainty that it rises; null as long as that was never wrong. */
  alwaysUpSkill: (SkillEstimate & { brier: number }) | null;
  murphy: MurphyDecomposition;
  reliability: ReliabilityRow[];
}

/** Probabilities lie close together around the base rate: bins of five points. */
const BIN_COUNT = 20;

/** Statistics of the probabilities of one horizon, by ascending day; null without any. */
export function computeProbabilityStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): ProbabilityStatistics | null {
  const n = forecasts.length;
  if (n === 0) return null;
  const model = (one: ScoredForecast) => brierScore(one.pUp, one.rose);
  const known = forecasts.filter(({ climatology }) => climatology !== null);
  return {
    n,
    effectiveN: effectiveCountOf(forecasts, horizonDays),
    brier: meanBy(forecasts, model),
    logScore: meanBy(forecasts, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    climatologySkill: known.length < n ? null : computeSkill(forecasts, model, ({ climatology, rose }) => brierScore(climatology!, rose)),
    alwaysUpSkill: computeSkill(forecasts, model, ({ rose }) => brierScore(1, rose)),
    murphy: decomposeBrier(forecasts.map(toProbabilityOutcome), BIN_COUNT)!,
    reliability: buildReliabilityRows(forecasts, horizonDays),
  };
}

/** No score is below 0, so that no skill is above 1. */
const SKILL_RANGE: Interval = { low: Number.NEGATIVE_INFINITY, high: 1 };

/** Skill of one score against another on the same days, with its interval; null where the reference was never wrong, and nothing can be better. */
export function computeSkill<T extends { day: number }>(
  forecasts: readonly T[],
  scoreOf: (forecast: T) => number,
  referenceOf: (forecast: T) => number,
): (SkillEstimate & { brier: number }) | null {
  const reference = meanBy(forecasts, referenceOf);
  const value = 1 - meanBy(forecasts, scoreOf) / reference;
  if (!Number.isFinite(value)) return null;
  const interval = blockBootstrap({
    columns: [toDailyColumn(forecasts, scoreOf), toDailyColumn(forecasts, referenceOf)],
    statistic: ([ours, theirs]) => 1 - ours / theirs,
    range: SKILL_RANGE,
  });
  return { brier: reference, value, low: interval?.low ?? null, high: interval?.high ?? null };
}

function buildReliabilityRows(forecasts: readonly ScoredForecast[], horizonDays: number): ReliabilityRow[] {
  const groups = Map.groupBy(forecasts, ({ pUp }) => Math.min(BIN_COUNT - 1, Math.floor(pUp * BIN_COUNT)));
  return [...groups].sort(([a], [b]) => a - b).map(([bin, members]) => buildReliabilityRow(bin, members, horizonDays));
}

function buildReliabilityRow(bin: number, members: readonly ScoredForecast[], horizonDays: number): ReliabilityRow {
  const observedShare = meanBy(members, ({ rose }) => (rose ? 1 : 0));
  const effectiveN = effectiveCountOf(members, horizonDays);
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

function effectiveCountOf(forecasts: readonly ScoredForecast[], horizonDays: number): number {
  return computeEffectiveCount(
    forecasts.map(({ day }) => day),
    horizonDays,
  );
}

function toProbabilityOutcome({ pUp, rose }: ScoredForecast): ProbabilityOutcome {
  return { p: pUp, happened: rose };
}

function meanBy<T>(members: readonly T[], numberOf: (member: T) => number): number {
  return members.reduce((sum, member) => sum + numberOf(member), 0) / members.length;
}
