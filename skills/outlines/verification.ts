import { z } from 'zod';
import { DATE, TIME } from '../../src/platform/validation/fields.ts';
import { DIRECTION, HORIZON, SIGNAL, STATUS } from '../../src/record/schemas/forecast.ts';
import { PREDICTION_VERIFICATION } from '../../src/record/schemas/prediction-verification.ts';
import { defineOutline } from './outline.ts';

const MAX_LISTED = 5;

const VALUE = PREDICTION_VERIFICATION.shape.checks.element.shape.expected;

export const VERIFICATION_OUTLINE = defineOutline(PREDICTION_VERIFICATION, {
  schema: z.object({
    asOf: TIME,
    verified: z.boolean(),
    verdict: z.string(),
    agreeing: z.int().describe('Checks that agree'),
    checked: z.int().describe('Checks made'),
    checks: z
      .array(z.object({ attestation: z.string(), field: z.string(), what: z.string(), expected: VALUE, actual: VALUE, ok: z.boolean() }))
      .describe('In a summary only those that fail'),
    unchecked: z.array(z.object({ attestation: z.string(), what: z.string(), reason: z.string() })),
    attestations: z.array(z.object({ type: z.string(), uid: z.string(), onChain: z.boolean(), blockTime: TIME.nullable() })),
    prediction: z.object({
      predictionId: z.string(),
      date: DATE,
      horizon: HORIZON,
      status: STATUS,
      signal: SIGNAL.nullable(),
      direction: DIRECTION.nullable(),
      pUp: z.number().nullable(),
      windowOpensAt: TIME,
      resolvesAt: TIME,
      btcAtSignal: z.number().nullable(),
      btcAtResolution: z.number().nullable(),
      returnBps: z.int().nullable(),
    }),
    byHand: z.object({ chain: z.string(), easContract: z.string(), attester: z.string(), formula: z.string() }),
  }),
  cut: ({ checks, unchecked, ...rest }) => ({
    ...rest,
    checks: checks.filter(({ ok }) => !ok).slice(0, MAX_LISTED),
    unchecked: unchecked.slice(0, MAX_LISTED),
  }),
});
