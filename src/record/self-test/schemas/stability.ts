import { z } from 'zod';
import { STABILITIES } from '../../../forecast/backtest/stability/joint-change.ts';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { FOLD_COUNT, HORIZON_DAYS } from './fold-count.ts';

const RESULT = z.enum(STABILITIES).nullable();
const POINTS = z.number().min(0).nullable();

const JOINT = z.object({
  levelPct: z.number().describe('Change of every threshold in percent of its value, up or down'),
  draws: COUNT.describe('Draws with any call'),
  p50Points: POINTS.describe('Median of the absolute change in accuracy, percentage points; null without calls'),
  p95Points: POINTS.describe('95th percentile in percentage points, which decides the result'),
  maxPoints: POINTS.describe('Maximum in percentage points'),
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  calls: COUNT.describe('Out-of-sample BUY or SELL calls with the current thresholds'),
  accuracy: PROBABILITY.nullable().describe('Share of these calls that came true; null without any'),
  result: RESULT.describe('Result of this horizon; null without calls'),
  joint: z.array(JOINT).describe('Joint change of all thresholds, by level'),
});

const EFFECT = z.object({
  horizonDays: HORIZON_DAYS,
  accuracyChangePoints: z.number().nullable().describe('Change in accuracy of the calls, percentage points; null without calls'),
  callsChange: z.int().describe('Change in the number of calls'),
});

const SINGLE = z.object({
  threshold: z.string().describe("Threshold name, `theta.<regime>` for a regime's minimum distance of P(up) from one half"),
  value: z.number().describe('Current value'),
  changePct: z.number().describe('Change in percent of that value'),
  largestPoints: z.number().min(0).describe('Largest absolute change in accuracy of any horizon, percentage points'),
  horizons: z.array(EFFECT).describe('Effect by horizon'),
});

export const STABILITY = z.object({
  ...FOLD_COUNT,
  result: RESULT.describe(
    'Result of the worst horizon: STABLE when the 95th percentile is at most 1 point at 10 % and 2 points at 20 %, MODERATE at most 5 points at 20 %, else OVERFIT; null without calls',
  ),
  verdict: z.string().describe('Verdict as a sentence'),
  scheme: z.string().describe('Scheme of the changes'),
  draws: COUNT.describe('Draws per level'),
  seed: z.int().describe('Seed of the draws, which makes them reproducible'),
  thresholds: z
    .array(z.object({ name: z.string().describe('Threshold name'), value: z.number().describe('Current value') }))
    .describe("Changed thresholds: the limits of the regimes and each regime's minimum distance of P(up) from one half"),
  horizons: z.array(HORIZON).describe('Joint change of all thresholds, by horizon'),
  single: z.array(SINGLE).describe('Change of one threshold at a time, largest effect first'),
});
