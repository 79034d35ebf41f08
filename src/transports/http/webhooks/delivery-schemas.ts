import { z } from 'zod';
import { PUSHED_NAMES } from '../../../events/event-names.ts';
import { EVENT_RETENTION_DAYS } from '../../../events/log/event-log.ts';
import { DELIVERY_STATES } from '../../../events/webhooks/delivery/delivery.ts';
import { COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { withInputRules } from '../../../platform/validation/input-rules.ts';
import { beforeInput, limitInput } from '../server/parsing/parameters.ts';

const STATUS = z.int().nullable().describe('HTTP status that was answered; null when nobody answered');
const MS = COUNT.describe('How long the call took, in milliseconds');
const REASON = z
  .string()
  .nullable()
  .describe('Why it does not count as delivered, in short: for programs to compare and people to look up; null when it does');
const MESSAGE_ID = z.string().describe('`webhook-id` of the call: the same for the same event, however often and wherever it is sent');

/** `POST /api/svc/webhooks/{id}/test`. */
export const TEST_REPLY = z.object({
  success: SUCCESS,
  delivered: z.boolean().describe('Whether the receiver answered 2xx in time'),
  status: STATUS,
  ms: MS,
  reason: REASON,
  messageId: z.string().describe('`webhook-id` of the call; each test has another one'),
});

const instant = (what: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time as in 2026-01-31T00:00:00Z' })
    .max(40, 'must be a time as in 2026-01-31T00:00:00Z')
    .optional()
    .describe(what);

const eventId = (least: number) => {
  const error = `must be the id of an event: a whole number from ${least}`;
  return z.int(error).min(least, error).optional();
};

/** Body of `POST /api/svc/webhooks/{id}/replay`. */
export const REPLAY_BODY = withInputRules(
  z.strictObject({
    eventId: eventId(1).describe('This one event'),
    sinceId: eventId(0).describe('All events with a higher id; 0 while none is gone yet: all'),
    sinceTime: instant(`All events that happened then or later (their \`timestamp\`), ISO 8601; at most ${EVENT_RETENTION_DAYS} days ago`),
    since: instant('The same as `sinceTime`, under its older name: here it is a time, while `since` of the WebSocket is an id'),
    until: instant('Beside `sinceTime` or `sinceId`: only events that happened before then, ISO 8601'),
  }),
  {
    oneOf: ['eventId', 'sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] })),
    // A single event has no `until`.
    anyOf: [{ maxProperties: 1 }, ...['sinceId', 'sinceTime', 'since'].map((name) => ({ required: [name] }))],
  },
);

/** `POST /api/svc/webhooks/{id}/replay`. */
export const REPLAY_REPLY = z.object({
  success: SUCCESS,
  replayId: z.uuid().nullable().describe('Names this replay in the deliveries; null when there was nothing to replay'),
  queued: COUNT.describe('How many events were queued, behind what waits already and in the order of their ids'),
  from: z.int().min(1).nullable().describe('Id of the first of them; null when there is none'),
  to: z.int().min(1).nullable().describe('Id of the last of them; null when there is none'),
});

const MAX_DELIVERIES = 100;

/** Query of `GET /api/svc/webhooks/{id}/deliveries`. */
export const DELIVERIES_QUERY = z.object({
  limit: limitInput(MAX_DELIVERIES, 20),
  before: beforeInput.describe('Only deliveries before this position: `nextBefore` of the page before'),
  state: z
    .enum(DELIVERY_STATES, { error: `must be one of ${DELIVERY_STATES.join(', ')}` })
    .optional()
    .describe('Only deliveries in this state'),
});

const ATTEMPT = z.object({ at: TIME.describe('When the call was made'), status: STATUS, ms: MS, reason: REASON });

const DELIVERY = z.object({
  position: z.int().min(1).describe('Place in the queue of the webhook: they are sent in this order'),
  type: z.enum([...PUSHED_NAMES, 'ping']).describe('Kind of event; ping: a test'),
  eventId: z.int().min(1).nullable().describe('Id of the event; null for a test'),
  messageId: MESSAGE_ID,
  cause: z.enum(['live', 'replay', 'ping']).describe('live: it had just happened; replay: it was asked for again; ping: a test'),
  replayId: z.uuid().nullable().describe('Which replay; null where it is none'),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      'PENDING: waits for its turn or its next attempt; DELIVERED: was answered 2xx; FAILED: all its attempts failed; CANCELLED: the webhook was disabled before',
    ),
  attempts: z.array(ATTEMPT).describe('Its calls, oldest first'),
  nextAttemptAt: TIME.nullable().describe(
    'When it is called next at the earliest; null while it waits for those before it, and once it is over',
  ),
  createdAt: TIME.describe('When it was queued'),
  finishedAt: TIME.nullable().describe('When it was over; null while PENDING'),
});

/** `GET /api/svc/webhooks/{id}/deliveries`. */
export const DELIVERIES_REPLY = z.object({
  success: SUCCESS,
  deliveries: z.array(DELIVERY).describe('Newest first'),
  count: COUNT.describe('Length of `deliveries`'),
  nextBefore: z.int().min(1).nullable().describe('`before` of the next page; null when this is the last'),
});
