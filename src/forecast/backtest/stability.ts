import { createRandom } from '../bootstrap.ts';
import { type FeatureTable, toRecord } from '../inputs.ts';
import { interpolateQuantile } from '../math.ts';
import type { HorizonDays } from '../model.ts';
import { classifyRegimes, REGIME_NAMES, REGIME_THRESHOLDS, REGIMES, type Regime, type RegimeThresholds } from '../regime.ts';
import { toSignal } from '../signal.ts';
import {
  type BacktestHistory,
  computeOutOfSampleFolds,
  EXPECTED_FOLDS,
  formatFoldNote,
  JUDGED_HORIZONS,
  type OutOfSampleDay,
} from './out-of-sample.ts';

const DRAWS = 500;
const SEED = 20_170_403;

const SCHEME =
  'Jointly: each draw moves every threshold by the full level, up or down at random. Singly: one threshold moves by the level, the others stay. Regimes and calls are recomputed and the accuracy of the calls is compared; probabilities do not depend on thresholds';

/** Sensitivity of the calls' accuracy to the thresholds. */
export type StabilityReport = ReturnType<typeof buildStabilityReport>;

/** The report of a history; results are null without a complete fold. Deterministic. */
export function buildStabilityReport(history: BacktestHistory) {
  const folds = JUDGED_HORIZONS.map((horizonDays) => computeOutOfSampleFolds(history, horizonDays));
  const days = folds.map((own) => own.flatMap((fold) => fold.days));
  const countCalls = (thresholds: DecisionThresholds) => countCallsUnder(thresholds, history.features, days);
  const base = countCalls(DECISION_THRESHOLDS);
  const drawn = PERTURBATIONS.map(({ levelPct }) => {
    const random = createRandom(SEED);
    const move = () => 1 + (random() < 0.5 ? -levelPct : levelPct) / 100;
    return Array.from({ length: DRAWS }, () => countCalls(scaleThresholds(move)));
  });
  const horizons = JUDGED_HORIZONS.map((horizonDays, index) => ({
    horizonDays,
    folds: folds[index].length,
    ...computeHorizonStability(base, drawn, index),
  }));
  const least = Math.min(...folds.map(({ length }) => length));
  /** Of the worst horizon. */
  const result = findWorstStability(horizons.map((one) => one.result));
  return {
    folds: least,
    expectedFolds: EXPECTED_FOLDS,
    note: formatFoldNote(least, history.features),
    result,
    verdict: formatStabilityVerdict(result, horizons),
    scheme: SCHEME,
    draws: DRAWS,
    seed: SEED,
    thresholds: THRESHOLD_NAMES.map((name) => ({ name, value: THRESHOLD_VALUES[name] })),
    horizons,
    single: computeSingleEffects(base, countCalls),
  };
}

/** `drawn` are the counts by level and draw, of each horizon. */
function computeHorizonStability(bases: CallCount[], drawn: readonly CallCount[][][], index: number) {
  const { calls, hits } = bases[index];
  const joint = PERTURBATIONS.map(({ levelPct }, level) => {
    const changes = drawn[level].map((counts) => computeAccuracyChange(bases[index], counts[index]));
    return summarizeJointChange(levelPct, changes);
  });
  return { calls, accuracy: calls === 0 ? null : hits / calls, result: classifyStability(joint), joint };
}

const STABILITY_MEANINGS: Record<Stability, string> = {
  STABLE: 'the accuracy of the calls hardly depends on the exact thresholds',
  MODERATE: 'the accuracy of the calls depends moderately on the exact thresholds',
  OVERFIT: 'the accuracy of the calls depends strongly on the exact thresholds, as if fitted to the past',
};

function formatStabilityVerdict(
  result: Stability | null,
  horizons: readonly { horizonDays: HorizonDays; joint: readonly JointChange[] }[],
): string {
  if (result === null) return 'Too few out-of-sample calls for a result';
  const changes = PERTURBATIONS.map(({ levelPct }, level) => {
    const points = horizons.map(({ joint }) => joint[level].p95Points?.toFixed(1) ?? 'none').join(' / ');
    return `${points} points when all thresholds move by ${levelPct} %`;
  });
  const names = horizons.map(({ horizonDays }) => horizonDays).join(' / ');
  return `${result}: ${STABILITY_MEANINGS[result]}. 95 % of the draws change it by at most ${changes.join(' and ')} (${names} days)`;
}

type CallCount = ReturnType<typeof countCallsUnder>[number];

/** Counts the calls of each list of days under other thresholds; probabilities do not depend on thresholds. */
export function countCallsUnder(
  { limits, thetas }: DecisionThresholds,
  features: FeatureTable,
  lists: readonly (readonly OutOfSampleDay[])[],
) {
  const regimes = classifyRegimes(features, limits);
  return lists.map((days) => {
    const count = { calls: 0, hits: 0 };
    for (const { row, pUp, rose } of days) {
      const signal = toSignal(pUp, thetas[regimes[row]]);
      if (signal === 'HOLD') continue;
      count.calls++;
      if ((signal === 'BUY') === rose) count.hits++;
    }
    return count;
  });
}

/** Change of accuracy in percentage points; null where either has no call. */
export function computeAccuracyChange(base: CallCount, other: CallCount): number | null {
  return base.calls === 0 || other.calls === 0 ? null : 100 * (other.hits / other.calls - base.hits / base.calls);
}

/** Every threshold of a signal: limits of the regime rules, and each regime's distance of P(up) from one half. */
interface DecisionThresholds {
  limits: RegimeThresholds;
  thetas: Record<Regime, number>;
}

export const DECISION_THRESHOLDS: DecisionThresholds = {
  limits: REGIME_THRESHOLDS,
  thetas: toRecord(REGIME_NAMES, (regime) => REGIMES[regime].theta),
};

/** Limits by their own names, thetas by `theta.<regime>`. */
const THRESHOLD_VALUES: Record<string, number> = {
  ...DECISION_THRESHOLDS.limits,
  ...Object.fromEntries(REGIME_NAMES.map((regime) => [toThetaName(regime), DECISION_THRESHOLDS.thetas[regime]])),
};
export const THRESHOLD_NAMES: readonly string[] = Object.keys(THRESHOLD_VALUES);

export function scaleThresholds(factorOf: (name: string) => number): DecisionThresholds {
  return {
    limits: scaleValues(DECISION_THRESHOLDS.limits, factorOf),
    thetas: scaleValues(DECISION_THRESHOLDS.thetas, (regime) => factorOf(toThetaName(regime))),
  };
}

function scaleValues<T extends object>(values: T, factorOf: (name: string) => number): T {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factorOf(name)])) as T;
}

function toThetaName(regime: string): string {
  return `theta.${regime}`;
}

/** From the best to the worst. */
export const STABILITIES = ['STABLE', 'MODERATE', 'OVERFIT'] as const;
type Stability = (typeof STABILITIES)[number];

/**
 * Levels of perturbation with limits of the 95th percentile of the absolute accuracy change, in percentage points: STABLE within all
 * `stablePoints`, MODERATE within all `moderatePoints`, else OVERFIT.
 */
const PERTURBATIONS = [
  { levelPct: 10, stablePoints: 1, moderatePoints: null },
  { levelPct: 20, stablePoints: 2, moderatePoints: 5 },
] as const;

type JointChange = ReturnType<typeof summarizeJointChange>;

/**
 * Quantiles of the absolute accuracy changes of one horizon by joint perturbations of one level, in percentage points; null without calls.
 * Null changes had no call.
 */
export function summarizeJointChange(levelPct: number, changes: readonly (number | null)[]) {
  const sorted = Float64Array.from(changes.flatMap((change) => (change === null ? [] : [Math.abs(change)]))).sort();
  const [p50Points, p95Points, maxPoints] = [0.5, 0.95, 1].map((level) =>
    sorted.length === 0 ? null : interpolateQuantile(sorted, level),
  );
  return { levelPct, draws: sorted.length, p50Points, p95Points, maxPoints };
}

/** Classifies the changes at all levels of `PERTURBATIONS`; null without changes. */
export function classifyStability(joint: readonly JointChange[]): Stability | null {
  if (joint.some(({ p95Points }) => p95Points === null)) return null;
  const isWithin = (limitOf: (level: (typeof PERTURBATIONS)[number]) => number | null) =>
    PERTURBATIONS.every((level, index) => joint[index].p95Points! <= (limitOf(level) ?? Number.POSITIVE_INFINITY));
  if (isWithin(({ stablePoints }) => stablePoints)) return 'STABLE';
  return isWithin(({ moderatePoints }) => moderatePoints) ? 'MODERATE' : 'OVERFIT';
}

export function findWorstStability(results: readonly (Stability | null)[]): Stability | null {
  return STABILITIES.findLast((stability) => results.includes(stability)) ?? null;
}

/** Moves every threshold down and up by every level, largest effect first; `countCalls` returns a count per judged horizon. */
function computeSingleEffects(base: readonly CallCount[], countCalls: (thresholds: DecisionThresholds) => CallCount[]) {
  const moves = PERTURBATIONS.flatMap(({ levelPct }) => [-levelPct, levelPct]);
  const effects = THRESHOLD_NAMES.flatMap((threshold) =>
    moves.map((changePct) => {
      const moved = countCalls(scaleThresholds((name) => (name === threshold ? 1 + changePct / 100 : 1)));
      const horizons = JUDGED_HORIZONS.map((horizonDays, index) => ({
        horizonDays,
        accuracyChangePoints: computeAccuracyChange(base[index], moved[index]),
        callsChange: moved[index].calls - base[index].calls,
      }));
      // 0 without any.
      const largestPoints = Math.max(...horizons.map(({ accuracyChangePoints }) => Math.abs(accuracyChangePoints ?? 0)));
      return { threshold, value: THRESHOLD_VALUES[threshold], changePct, largestPoints, horizons };
    }),
  );
  return effects.sort((a, b) => b.largestPoints - a.largestPoints);
}
