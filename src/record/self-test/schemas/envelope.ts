import { z } from 'zod';
import { COUNT, DATE, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { SELF_TESTS } from '../self-test-doc.ts';

const CODE_VERSION = z
  .string()
  .describe(
    'Version of the software and sha2-256 of the code that computes: `find src/forecast -name "*.ts" | LC_ALL=C sort | xargs sha256sum | sha256sum`',
  );

export const SELF_TEST_ENVELOPE = {
  success: SUCCESS,
  test: z.enum(SELF_TESTS).describe('Which test'),
  state: z.literal('done').describe('It was run and came to a result, good or bad: read `verdict`'),
  verdict: z.string().describe('What it found, in a line'),
  date: DATE.describe('The day that it was due on'),
  dueAt: TIME.describe('When it was due'),
  ranAt: TIME.describe('When it was run'),
  firstRanAt: TIME.describe('When the first result of that day was made: before `ranAt` where other code or corrected data made it anew'),
  late: z
    .boolean()
    .describe('True when that first result came more than three minutes after it was due; before the first run of all nothing was due'),
  durationMs: COUNT.describe('Milliseconds that it took'),
  nextDueAt: TIME.nullable().describe('When the next one is due; null once the market data has ended'),
  overdue: z.boolean().describe('True when a newer one should be here and is not'),
  failure: z
    .object({
      at: TIME.describe('When'),
      reason: z.string().describe('Why'),
      codeVersion: z.string().describe('Code that failed: another than that of the result after an upgrade'),
    })
    .nullable()
    .describe('Why the newest run came to no result, so that one before it is shown; null where the newest is shown'),
  codeVersion: CODE_VERSION,
  dataDigest: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .nullable()
    .describe('sha2-256 of the history that it was computed from, as `inputsDigest` of a forecast is made; null where that is the record'),
  firstDay: DATE.nullable().describe('First day of what it was made from; null where there was none'),
  lastDay: DATE.nullable().describe('Last day of it'),
  source: z.string().describe('Where the market data comes from'),
  simulated: z.boolean().describe('True when that market is made up: the figures say something of the method, and nothing of bitcoin'),
  replayed: z.boolean().describe("True when days of the demonstration's replay are in it"),
  seed: COUNT.nullable().describe('Seed of the resampling: who repeats it finds the same; null where nothing is drawn'),
};

export const SELF_TEST_ENVELOPE_OBJECT = z.object(SELF_TEST_ENVELOPE);

export const SELF_TEST_STATUS = z.object({
  test: z.enum(SELF_TESTS).describe('Which test'),
  path: z.string().describe('Where its result is told'),
  state: z
    .enum(['done', 'failed', 'waiting'])
    .describe('How its newest run ended; `waiting`: it was never run, or not by code that tells results as this one does'),
  verdict: z.string().nullable().describe('What the newest result says, in a line; null before the first'),
  lastRunAt: TIME.nullable().describe('When it was run last; null before the first'),
  dueAt: TIME.describe('When it was due last'),
  nextDueAt: TIME.nullable().describe('When it is due next; null once the market data has ended'),
  overdue: z
    .boolean()
    .describe('True when it was due more than a quarter of an hour ago and has no result of that; before a first one: since the start'),
  late: z.boolean().nullable().describe('Whether the first run for the newest day that it ran for began late; null before the first'),
  durationMs: COUNT.nullable().describe('Milliseconds that the run took which stands for that day; null before the first'),
  reason: z.string().nullable().describe('What it waits for, or why it failed; null when it is done'),
  codeVersion: z.string().nullable().describe('Code of its newest run; null before the first'),
});
