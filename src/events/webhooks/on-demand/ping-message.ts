import { z } from 'zod';
import { TIME } from '../../../platform/validation/fields.ts';

export const PING_MESSAGE = z.object({
  id: z.null().describe('Null: a test is not in the event log'),
  type: z.literal('ping').describe('Kind of message'),
  timestamp: TIME.describe('Time of the test request'),
  data: z.object({ webhookId: z.uuid().describe('The tested webhook') }),
});

export type PingMessage = z.input<typeof PING_MESSAGE>;
