import { z } from 'zod';
import { DATE, TIME } from '../../src/platform/validation/fields.ts';
import { DIRECTION, HORIZON, INTERVAL, REGIME, SIGNAL, STATUS } from '../../src/record/schemas/forecast.ts';
import { TRACK_RECORD } from '../../src/record/schemas/track-record.ts';
import { defineOutline } from './outline.ts';

/** Forecasts of a page that a short answer lists. */
export const MAX_OUTLINED_ENTRIES = 10;

const COUNT = z.int();
const NUMBER = z.number().nullable();
const BOUNDS = z.object(INTERVAL.shape).nullable();

export const TRACK_RECORD_OUTLINE = defineOutline(TRACK_RECORD, {
  schema: z.object({
    asOf: TIME,
    filters: z.object({
      horizon: HORIZON,
      from: DATE.nullable(),
      to: DATE.nullable(),
      regime: REGIME.nullable(),
      status: STATUS.nullable(),
    }),
    statistics: z
      .object({
        totalPredictions: COUNT,
        resolved: COUNT.describe('Wins and losses'),
        wins: COUNT,
        losses: COUNT,
        holds: COUNT.describe('Abstained, not scored'),
        voids: COUNT.describe('Missed or late, not scored'),
        pending: COUNT,
        accuracy: NUMBER,
        accuracyInterval95: BOUNDS.describe('On the effective sample size, given overlapping windows'),
        alwaysUpAccuracy: NUMBER,
        brier: z.object({ n: COUNT, model: z.number(), climatology: z.number() }).nullable().describe('Lower is better'),
        brierDifference: z.object({ n: COUNT, mean: z.number(), low: NUMBER, high: NUMBER }).nullable().describe('Model minus base rate'),
        verdict: z.string(),
      })
      .describe('Of exactly the filtered forecasts'),
    wholeRecord: z.object({
      total: COUNT,
      resolved: COUNT,
      wins: COUNT,
      accuracy: NUMBER,
      effectiveN: z.number(),
      accuracyInterval95: BOUNDS,
      verdict: z.string(),
    }),
    inference: z.string().describe('What the filters do to inference'),
    entries: z
      .array(
        z.object({
          date: DATE,
          predictionId: z.string(),
          signal: SIGNAL.nullable(),
          direction: DIRECTION.nullable(),
          pUp: NUMBER,
          status: STATUS,
          returnBps: z.int().nullable(),
        }),
      )
      .describe(`Newest first; in a summary at most ${MAX_OUTLINED_ENTRIES} of the page`),
    page: COUNT,
    pages: COUNT,
    total: COUNT.describe('Forecasts that match'),
    source: z.string(),
  }),
  cut: ({ entries, ...rest }) => ({ ...rest, entries: entries.slice(0, MAX_OUTLINED_ENTRIES) }),
});
