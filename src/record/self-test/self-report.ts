import type { z } from 'zod';
import type { PROMISE_STATES, PROMISED_STEPS, SELF_REPORT } from './schemas/self-report.ts';

/** What the service promised in a week and what became of it: `SELF_REPORT`. */
export type SelfReport = z.output<typeof SELF_REPORT>;

export type PromisedStep = (typeof PROMISED_STEPS)[number];

export type PromiseState = (typeof PROMISE_STATES)[number];
