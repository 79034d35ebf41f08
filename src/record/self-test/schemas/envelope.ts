import { z } from 'zod';
import { COUNT, DATE, SUCCESS, TIME } from '../../../fields.ts';
import { SELF_TESTS } from '../self-test.ts';

const CODE_VERSION = z
  .string()
  .describe(
    'Version of the software and sha2-256 of the code that computes: `find src/forecast -name "*.ts" | LC_ALL=C sort | xargs sha256sum | sha256sum`',
  );

/** What stands around the report of every self-test. */
export const SELF_TEST_ENVELOPE = {
  success: SUCCESS,
  test: z.enum(SELF_TESTS).describe('Which test'),
  state: z.literal('done').describe('It was run and came to a result, good or bad: read `verdict`'),
  verdict: z.string().describe('What it found, in a line'),
  date: DATE.describe('The day that it was due on'),
  dueAt: TIME.describe('When it was due'),
  ranAt: TIME.describe('When it was run'),
  late: z.boolean().describe('True when it was run more than three minutes after it was due; so is the first of a fresh start'),
  durationMs: COUNT.describe('Milliseconds that it took, in a thread of its own'),
  nextDueAt: TIME.nullable().describe('When the next one is due; null once the market data has ended'),
  overdue: z.boolean().describe('True when a newer one should be here and is not'),
  failure: z
    .object({ at: TIME.describe('When'), reason: z.string().describe('Why') })
    .nullable()
    .describe('Why the newest run came to no result, so that an older one is shown; null where the newest is shown'),
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

export const ENVELOPE = z.object(SELF_TEST_ENVELOPE);

/** How one self-test stands. */
export const SELF_TEST_STANDING = z.object({
  test: z.enum(SELF_TESTS).describe('Which test'),
  path: z.string().describe('Where its result is told'),
  state: z.enum(['done', 'failed', 'waiting']).describe('How its newest run ended; `waiting`: it was never run'),
  verdict: z.string().nullable().describe('What the newest result says, in a line; null before the first'),
  lastRunAt: TIME.nullable().describe('When it was run last; null before the first'),
  dueAt: TIME.describe('When it was due last'),
  nextDueAt: TIME.nullable().describe('When it is due next; null once the market data has ended'),
  overdue: z.boolean().describe('True when it was due more than a quarter of an hour ago and has no result of that'),
  late: z.boolean().nullable().describe('Whether its newest run began late; null before the first'),
  durationMs: COUNT.nullable().describe('Milliseconds that its newest run took; null before the first'),
  reason: z.string().nullable().describe('What it waits for, or why it failed; null when it is done'),
  codeVersion: z.string().nullable().describe('Code of its newest run; null before the first'),
});
