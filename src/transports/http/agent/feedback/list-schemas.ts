import { z } from 'zod';
import { listOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, COUNT, INTEGER_TEXT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { describeParameter } from '../../server/parsing/describe-parameter.ts';
import { limitInput, PAGE_LIMITS } from '../../server/parsing/parameters.ts';

const KINDS = ['paid', 'unpaid'] as const;
const { most, default: defaultLimit } = PAGE_LIMITS.feedback;
const MAX_POSITION = 999_999_999_999_999;

export const FEEDBACK_LIST_QUERY = z.object({
  kind: z.enum(KINDS, { error: 'must be paid or unpaid' }).default('paid').describe('Whether the client had paid before'),
  limit: limitInput(most, defaultLimit),
  before: z
    .string({ error: 'must be given once, as a whole number' })
    .regex(/^\d{1,15}$/, 'must be `next` of an earlier page')
    .transform(Number)
    .meta(describeParameter({ type: 'integer', minimum: 0, maximum: MAX_POSITION }, '`next` of the page before'))
    .optional()
    .describe('`next` of the page before; absent: from the newest'),
});

export const CLIENT_FEEDBACK_LIST = z.object({
  success: SUCCESS,
  kind: z.enum(KINDS).describe('Listed kind'),
  feedback: listOf('Feedback, newest first', {
    client: ADDRESS.describe('Author'),
    index: INTEGER_TEXT.describe('Counts the feedback of the client from 1'),
    value: z
      .string()
      .regex(/^-?\d+$/)
      .describe('Rating in units of 10^-`valueDecimals`, as text: it may exceed a JSON number'),
    valueDecimals: COUNT.describe('Decimals of `value`'),
    tag1: z.string().describe('Tag of the client, up to 40 characters'),
    tag2: z.string().describe('Further tag of the client'),
    feedbackUri: z
      .string()
      .nullable()
      .describe('URI of the client, unchecked; null for one longer than 300 characters or neither https nor IPFS'),
    feedbackHash: BYTES32.describe('keccak256 of its content, by the client'),
    block: COUNT.describe('Block number'),
    at: TIME.nullable().describe('Block time; null for unpaid feedback'),
    revoked: z.boolean().describe('Whether the client revoked it'),
  }),
  next: COUNT.nullable().describe('Value of `before` for the next page; null on the last'),
});
