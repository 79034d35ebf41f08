import { createRandom } from '../../math/random.ts';
import type { HorizonDays } from '../../model.ts';
import { type BacktestHistory, computeOutOfSampleFolds, EXPECTED_FOLDS, formatFoldNote, JUDGED_HORIZONS } from '../out-of-sample.ts';
import { type CallCount, computeAccuracyChange, countCallsUnder } from './call-counts.ts';
import {
  classifyStability,
  findWorstStability,
  type JointChange,
  PERTURBATIONS,
  type Stability,
  summarizeJointChange,
} from './joint-change.ts';
import { computeSingleEffects } from './single-threshold-effects.ts';
import { DECISION_THRESHOLDS, type DecisionThresholds, getThresholdValue, scaleThresholds, THRESHOLD_NAMES } from './thresholds.ts';

const DRAWS = 500;
const SEED = 20_170_403;

const SCHEME =
  'Jointly: each draw moves every threshold by the full level, up or down at random. Singly: one threshold moves by the level, the others stay. Regimes and calls are recomputed and the accuracy of the calls is compared; probabilities do not depend on thresholds';

export interface HorizonStability {
  horizonDays: HorizonDays;
  folds: number;
  calls: number;
  accuracy: number | null;
  result: Stability | null;
  joint: JointChange[];
}

/** Sensitivity of the calls' accuracy to the thresholds. */
export type StabilityReport = ReturnType<typeof buildStabilityReport>;

/** The report of a history; results are null without a complete fold. Deterministic. */
export function buildStabilityReport(history: BacktestHistory) {
  const folds = JUDGED_HORIZONS.map((horizonDays) => computeOutOfSampleFolds(history, horizonDays));
  const days = folds.map((own) => own.flatMap((fold) => fold.days));
  const countCalls = (thresholds: DecisionThresholds) => countCallsUnder(thresholds, history.features, days);
  const base = countCalls(DECISION_THRESHOLDS);
  const drawn = countCallsPerDraw(countCalls);
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
    thresholds: THRESHOLD_NAMES.map((name) => ({ name, value: getThresholdValue(name) })),
    horizons,
    single: computeSingleEffects(base, countCalls),
  };
}

function countCallsPerDraw(countCalls: (thresholds: DecisionThresholds) => CallCount[]): CallCount[][][] {
  return PERTURBATIONS.map(({ levelPct }) => {
    const random = createRandom(SEED);
    const move = () => 1 + (random() < 0.5 ? -levelPct : levelPct) / 100;
    return Array.from({ length: DRAWS }, () => countCalls(scaleThresholds(move)));
  });
}

function computeHorizonStability(bases: CallCount[], drawn: ReturnType<typeof countCallsPerDraw>, index: number) {
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

function formatStabilityVerdict(result: Stability | null, horizons: readonly HorizonStability[]): string {
  if (result === null) return 'Too few out-of-sample calls for a result';
  const changes = PERTURBATIONS.map(({ levelPct }, level) => {
    const points = horizons.map(({ joint }) => joint[level].p95Points?.toFixed(1) ?? 'none').join(' / ');
    return `${points} points when all thresholds move by ${levelPct} %`;
  });
  const names = horizons.map(({ horizonDays }) => horizonDays).join(' / ');
  return `${result}: ${STABILITY_MEANINGS[result]}. 95 % of the draws change it by at most ${changes.join(' and ')} (${names} days)`;
}
