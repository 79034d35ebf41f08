import type { Judged } from '../reliability.ts';
import { boundedLogLoss, brierScore, type Interval } from '../scoring.ts';
import { blockBootstrap } from './block-bootstrap.ts';
import type { Difference } from './call-statistics.ts';
import { effectiveCount } from './effective-count.ts';
import { type MurphyDecomposition, murphyDecomposition } from './murphy.ts';
import { dailyColumn, type ScoredForecast } from './scored-forecast.ts';
import { shareInterval } from './share-interval.ts';

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
export type Skill = Difference;

/** How good the probabilities of UP were, HOLD included. Scores: lower is better. */
export interface ProbabilityStatistics {
  n: number;
  effectiveN: number;
  brier: number;
  /** Mean log loss, natural logarithm; saying one half always scores 0.6931. */
  logScore: number;
  /** Brier skill against the base rate known at the time; null where that is not known. */
  climatologySkill: (Skill & { brier: number }) | null;
  /** Brier skill against the certainty that it rises; null as long as that was never wrong. */
  alwaysUpSkill: (Skill & { brier: number }) | null;
  murphy: MurphyDecomposition;
  reliability: ReliabilityRow[];
}

/** Probabilities lie close together around the base rate: bins of five points. */
const BINS = 20;

/** Statistics of the probabilities of one horizon, by ascending day; null without any. */
export function probabilityStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): ProbabilityStatistics | null {
  const n = forecasts.length;
  if (n === 0) return null;
  const model = (one: ScoredForecast) => brierScore(one.pUp, one.rose);
  const known = forecasts.filter(({ climatology }) => climatology !== null);
  return {
    n,
    effectiveN: worth(forecasts, horizonDays),
    brier: mean(forecasts, model),
    logScore: mean(forecasts, ({ pUp, rose }) => boundedLogLoss(pUp, rose)),
    climatologySkill: known.length < n ? null : skill(forecasts, model, ({ climatology, rose }) => brierScore(climatology!, rose)),
    alwaysUpSkill: skill(forecasts, model, ({ rose }) => brierScore(1, rose)),
    murphy: murphyDecomposition(forecasts.map(judge), BINS)!,
    reliability: reliabilityRows(forecasts, horizonDays),
  };
}

/** No score is below 0, so that no skill is above 1. */
const SKILL_RANGE: Interval = { low: Number.NEGATIVE_INFINITY, high: 1 };

/** Skill of one score against another on the same days, with its interval; null where the reference was never wrong, and nothing can be better. */
export function skill<T extends { day: number }>(
  forecasts: readonly T[],
  scoreOf: (forecast: T) => number,
  referenceOf: (forecast: T) => number,
): (Skill & { brier: number }) | null {
  const reference = mean(forecasts, referenceOf);
  const value = 1 - mean(forecasts, scoreOf) / reference;
  if (!Number.isFinite(value)) return null;
  const interval = blockBootstrap({
    columns: [dailyColumn(forecasts, scoreOf), dailyColumn(forecasts, referenceOf)],
    statistic: ([ours, theirs]) => 1 - ours / theirs,
    range: SKILL_RANGE,
  });
  return { brier: reference, value, low: interval?.low ?? null, high: interval?.high ?? null };
}

function reliabilityRows(forecasts: readonly ScoredForecast[], horizonDays: number): ReliabilityRow[] {
  const groups = Map.groupBy(forecasts, ({ pUp }) => Math.min(BINS - 1, Math.floor(pUp * BINS)));
  return [...groups].sort(([a], [b]) => a - b).map(([bin, members]) => reliabilityRow(bin, members, horizonDays));
}

function reliabilityRow(bin: number, members: readonly ScoredForecast[], horizonDays: number): ReliabilityRow {
  const observedShare = mean(members, ({ rose }) => (rose ? 1 : 0));
  const effectiveN = worth(members, horizonDays);
  return {
    from: bin / BINS,
    to: (bin + 1) / BINS,
    n: members.length,
    effectiveN,
    meanProbability: mean(members, ({ pUp }) => pUp),
    observedShare,
    interval95: shareInterval(observedShare, effectiveN),
  };
}

function worth(forecasts: readonly ScoredForecast[], horizonDays: number): number {
  return effectiveCount(
    forecasts.map(({ day }) => day),
    horizonDays,
  );
}

function judge({ pUp, rose }: ScoredForecast): Judged {
  return { p: pUp, happened: rose };
}

function mean<T>(members: readonly T[], numberOf: (member: T) => number): number {
  return members.reduce((sum, member) => sum + numberOf(member), 0) / members.length;
}
