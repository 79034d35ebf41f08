import { z } from 'zod';
import { PUSHED_NAMES } from '../../../events/event-names.ts';
import { EVENT_RETENTION_DAYS } from '../../../events/log/event-log.ts';
import { DELIVERY_STATES } from '../../../events/webhooks/delivery/delivery.ts';
import { COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { withInputRules } from '../../../platform/validation/input-rules.ts';
import { beforeInput, limitInput } from '../server/parsing/parameters.ts';

const STATUS = z.int().nullable().describe('HTTP status of the receiver; null without a response');
const MS = COUNT.describe('Duration of the call, milliseconds');
const REASON = z.string().nullable().describe('Machine-readable reason of the failure; null when delivered');
const MESSAGE_ID = z.string().describe('`webhook-id`: the same for the same event, for every attempt and webhook');

export const TEST_REPLY = z.object({
  success: SUCCESS,
  delivered: z.boolean().describe('Whether the receiver answered 2xx in time'),
  status: STATUS,
  ms: MS,
  reason: REASON,
  messageId: z.string().describe('`webhook-id`, unique per test'),
});

const instant = (what: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T00:00:00Z' })
    .max(40, 'must be a time such as 2026-01-31T00:00:00Z')
    .optional()
    .describe(what);

const eventId = (least: number) => {
  const error = `must be an event id: a whole number from ${least}`;
  return z.int(error).min(least, error).optional();
};

export const REPLAY_BODY = withInputRules(
  z.strictObject({
    eventId: eventId(1).describe('A single event'),
    sinceId: eventId(0).describe('All events with a higher id; 0: all'),
    sinceTime: instant(`All events with this \`timestamp\` or a later one, ISO 8601; at most ${EVENT_RETENTION_DAYS} days ago`),
    since: instant('Older name of `sinceTime`: a time, while `since` of the WebSocket is an id'),
    until: instant('With `sinceTime` or `sinceId`: only events before this time, ISO 8601'),
  }),
  {
    oneOf: ['eventId', 'sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] })),
    // `until` is invalid with a single event.
    anyOf: [{ maxProperties: 1 }, ...['sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] }))],
  },
);

export const REPLAY_REPLY = z.object({
  success: SUCCESS,
  replayId: z.uuid().nullable().describe('Id of the replay in the deliveries; null when nothing was replayed'),
  queued: COUNT.describe('Queued events, after pending ones and in id order'),
  from: z.int().min(1).nullable().describe('First event id; null when there is none'),
  to: z.int().min(1).nullable().describe('Last event id; null when there is none'),
});

const MAX_DELIVERIES = 100;

export const DELIVERIES_QUERY = z.object({
  limit: limitInput(MAX_DELIVERIES, 20),
  before: beforeInput.describe('Only deliveries before this position: `nextBefore` of the previous page'),
  state: z
    .enum(DELIVERY_STATES, { error: `must be one of ${DELIVERY_STATES.join(', ')}` })
    .optional()
    .describe('Only deliveries in this state'),
});

const ATTEMPT = z.object({ at: TIME.describe('Time of the attempt'), status: STATUS, ms: MS, reason: REASON });

const DELIVERY = z.object({
  position: z.int().min(1).describe('Position in the queue: deliveries are sent in this order'),
  type: z.enum([...PUSHED_NAMES, 'ping']).describe('Event type; ping: a test'),
  eventId: z.int().min(1).nullable().describe('Event id; null for a test'),
  messageId: MESSAGE_ID,
  cause: z.enum(['live', 'replay', 'ping']).describe('live: a new event; replay: requested again; ping: a test'),
  replayId: z.uuid().nullable().describe('Replay id; null for others'),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      'PENDING: waits for its turn or next attempt; DELIVERED: answered 2xx; FAILED: all attempts failed; CANCELLED: the webhook was disabled',
    ),
  attempts: z.array(ATTEMPT).describe('Attempts, oldest first'),
  nextAttemptAt: TIME.nullable().describe('Earliest next attempt; null while it waits for earlier ones, and once finished'),
  createdAt: TIME.describe('When it was queued'),
  finishedAt: TIME.nullable().describe('When it finished; null while PENDING'),
});

export const DELIVERIES_REPLY = z.object({
  success: SUCCESS,
  deliveries: z.array(DELIVERY).describe('Newest first'),
  count: COUNT.describe('Length of `deliveries`'),
  nextBefore: z.int().min(1).nullable().describe('`before` of the next page; null on the last'),
});
