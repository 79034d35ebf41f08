import { z } from 'zod';
import { COUNT, DATE, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { SELF_TESTS } from '../self-test-doc.ts';

const CODE_VERSION = z
  .string()
  .describe(
    'Package version and sha2-256 of the computing code: `find src/forecast -name "*.ts" | LC_ALL=C sort | xargs sha256sum | sha256sum`',
  );

export const SELF_TEST_ENVELOPE = {
  success: SUCCESS,
  test: z.enum(SELF_TESTS).describe('Which test'),
  state: z.literal('done').describe('The test ran and has a result, good or bad: see `verdict`'),
  verdict: z.string().describe('Verdict in a line'),
  date: DATE.describe('Due day'),
  dueAt: TIME.describe('Due time'),
  ranAt: TIME.describe('Time of the run'),
  firstRanAt: TIME.describe('Time of the first result of that due day; earlier than `ranAt` when other code or corrected data replaced it'),
  late: z
    .boolean()
    .describe('True when that first result came more than three minutes after its due time; the first run ever is never late'),
  durationMs: COUNT.describe('Duration in milliseconds'),
  nextDueAt: TIME.nullable().describe('Next due time; null once the market data has ended'),
  overdue: z.boolean().describe('True when a newer result is overdue'),
  failure: z
    .object({
      at: TIME.describe('When'),
      reason: z.string().describe('Why'),
      codeVersion: z.string().describe('Failed code version; after an upgrade it differs from that of the result'),
    })
    .nullable()
    .describe('Failure of the newest run, in which case an earlier result is shown; null when the newest is shown'),
  codeVersion: CODE_VERSION,
  dataDigest: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .nullable()
    .describe('sha2-256 of the history, computed as `inputsDigest` of a forecast; null for tests of the record'),
  firstDay: DATE.nullable().describe('First day of the data; null without any'),
  lastDay: DATE.nullable().describe('Last day of the data'),
  source: z.string().describe('Source of the market data'),
  simulated: z.boolean().describe('True for simulated market data: the figures evaluate the method, not bitcoin'),
  replayed: z.boolean().describe('True when it includes replayed days of the demo'),
  seed: COUNT.nullable().describe('Seed of the resampling, which makes it reproducible; null without resampling'),
};

export const SELF_TEST_ENVELOPE_OBJECT = z.object(SELF_TEST_ENVELOPE);

export const SELF_TEST_STATUS = z.object({
  test: z.enum(SELF_TESTS).describe('Which test'),
  path: z.string().describe('Path of its result'),
  state: z
    .enum(['done', 'failed', 'waiting'])
    .describe('State of the newest run; `waiting`: it never ran, or its result has another format'),
  verdict: z.string().nullable().describe('Verdict of the newest result in a line; null before the first'),
  lastRunAt: TIME.nullable().describe('Time of the last run; null before the first'),
  dueAt: TIME.describe('Last due time'),
  nextDueAt: TIME.nullable().describe('Next due time; null once the market data has ended'),
  overdue: z
    .boolean()
    .describe('True when a result is more than 15 minutes overdue; before the first one counted from the start of the service'),
  late: z.boolean().nullable().describe('Whether the first run of the newest due day was late; null before the first'),
  durationMs: COUNT.nullable().describe('Duration in milliseconds of the run that stands for that day; null before the first'),
  reason: z.string().nullable().describe('Reason for waiting or failure; null when done'),
  codeVersion: z.string().nullable().describe('Code version of the newest run; null before the first'),
});
