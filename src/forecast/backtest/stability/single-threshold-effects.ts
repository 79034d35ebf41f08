import type { HorizonDays } from '../../model.ts';
import { JUDGED_HORIZONS } from '../judged-horizons.ts';
import { type CallCount, computeAccuracyChange } from './call-counts.ts';
import { PERTURBATIONS } from './joint-change.ts';
import { type DecisionThresholds, getThresholdValue, scaleThresholds, THRESHOLD_NAMES } from './thresholds.ts';

/** What moving one threshold does, all others as they are. */
export interface SingleThresholdEffect {
  threshold: string;
  /** In force. */
  value: number;
  /** By how many percent of its value it is moved, up or down. */
  changePct: number;
  /** The largest of the absolute changes in accuracy below, in percentage points; 0 where no horizon has one. */
  largestPoints: number;
  horizons: {
    horizonDays: HorizonDays;
    /** Null without calls. */
    accuracyChangePoints: number | null;
    callsChange: number;
  }[];
}

/** Every threshold moved down and up by every level, the largest effect first; `countCalls` gives the calls of `JUDGED_HORIZONS`. */
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
