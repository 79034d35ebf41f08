import { z } from 'zod';
import { STABILITIES } from '../../../forecast/backtest/stability/joint-change.ts';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { FOLD_COUNT, HORIZON_DAYS } from './fold-count.ts';

const RESULT = z.enum(STABILITIES).nullable();
const POINTS = z.number().min(0).nullable();

const JOINT = z.object({
  levelPct: z.number().describe('By how many percent of its value every threshold is moved, up or down'),
  draws: COUNT.describe('Draws that led to any call'),
  p50Points: POINTS.describe('Median of the absolute change in accuracy, percentage points; null without calls'),
  p95Points: POINTS.describe('95th percentile of it, percentage points: what is judged'),
  maxPoints: POINTS.describe('The largest, percentage points'),
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  calls: COUNT.describe('BUY or SELL of all days out of sample, with the thresholds in force'),
  accuracy: PROBABILITY.nullable().describe('Share of these calls that came true; null without any'),
  result: RESULT.describe('Of this horizon; null without calls'),
  joint: z.array(JOINT).describe('All thresholds moved together, by level'),
});

const EFFECT = z.object({
  horizonDays: HORIZON_DAYS,
  accuracyChangePoints: z.number().nullable().describe('Change in the accuracy of the calls, percentage points; null without calls'),
  callsChange: z.int().describe('Change in the number of calls'),
});

const SINGLE = z.object({
  threshold: z.string().describe('Name of the threshold, `theta.<regime>` for the distance from one half that a regime asks of P(up)'),
  value: z.number().describe('Its value in force'),
  changePct: z.number().describe('By how many percent of that value it is moved'),
  largestPoints: z.number().min(0).describe('Largest absolute change in accuracy of any horizon, percentage points'),
  horizons: z.array(EFFECT).describe('What that does, by horizon'),
});

export const STABILITY = z.object({
  ...FOLD_COUNT,
  result: RESULT.describe(
    'Of the worst horizon: STABLE when the 95th percentile is at most 1 point at 10 % and 2 points at 20 %, MODERATE at most 5 points at 20 %, else OVERFIT; null without calls',
  ),
  verdict: z.string().describe('What that means, in words'),
  scheme: z.string().describe('How thresholds are moved'),
  draws: COUNT.describe('Draws of each level'),
  seed: z.int().describe('Of the draws: whoever repeats them gets the same'),
  thresholds: z
    .array(z.object({ name: z.string().describe('Name of the threshold'), value: z.number().describe('Its value in force') }))
    .describe('Everything that is moved: the limits of the regimes and how far from one half each wants P(up)'),
  horizons: z.array(HORIZON).describe('All thresholds moved together, by horizon'),
  single: z.array(SINGLE).describe('One threshold moved at a time, the largest effect first'),
});
