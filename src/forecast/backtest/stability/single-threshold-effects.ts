import type { HorizonDays } from '../../model.ts';
import { JUDGED_HORIZONS } from '../out-of-sample.ts';
import { type CallCount, computeAccuracyChange } from './call-counts.ts';
import { PERTURBATIONS } from './joint-change.ts';
import { type DecisionThresholds, getThresholdValue, scaleThresholds, THRESHOLD_NAMES } from './thresholds.ts';

export interface SingleThresholdEffect {
  threshold: string;
  value: number;
  /** Signed change in percent of its value. */
  changePct: number;
  /** Largest absolute accuracy change of the horizons, in percentage points; 0 without any. */
  largestPoints: number;
  horizons: {
    horizonDays: HorizonDays;
    accuracyChangePoints: number | null;
    callsChange: number;
  }[];
}

/** Moves every threshold down and up by every level, largest effect first; `countCalls` returns a count per judged horizon. */
export function computeSingleEffects(
  base: readonly CallCount[],
  countCalls: (thresholds: DecisionThresholds) => CallCount[],
): SingleThresholdEffect[] {
  const moves = PERTURBATIONS.flatMap(({ levelPct }) => [-levelPct, levelPct]);
  const effects = THRESHOLD_NAMES.flatMap((threshold) =>
    moves.map((changePct) => {
      const moved = countCalls(scaleThresholds((name) => (name === threshold ? 1 + changePct / 100 : 1)));
      return buildSingleEffect({ threshold, changePct }, base, moved);
    }),
  );
  return effects.sort((a, b) => b.largestPoints - a.largestPoints);
}

function buildSingleEffect(
  { threshold, changePct }: Pick<SingleThresholdEffect, 'threshold' | 'changePct'>,
  base: readonly CallCount[],
  moved: readonly CallCount[],
): SingleThresholdEffect {
  const horizons = JUDGED_HORIZONS.map((horizonDays, index) => ({
    horizonDays,
    accuracyChangePoints: computeAccuracyChange(base[index], moved[index]),
    callsChange: moved[index].calls - base[index].calls,
  }));
  const largestPoints = Math.max(...horizons.map(({ accuracyChangePoints }) => Math.abs(accuracyChangePoints ?? 0)));
  return { threshold, value: getThresholdValue(threshold), changePct, largestPoints, horizons };
}
