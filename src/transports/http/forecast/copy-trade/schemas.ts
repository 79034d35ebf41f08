import { z } from 'zod';
import { EVENT_NAMES } from '../../../../events/event-names.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { COUNT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const EVENT = z.object({
  type: z.enum(EVENT_NAMES).describe('Event type'),
  meaning: z.string().describe('Meaning'),
  frequency: z.string().describe('Frequency'),
});

const LIVE = z.boolean().describe('Whether it delivers');
const NOTE = z.string().describe('How it delivers');
const TIER = z.string().describe('Requirement');

const WEBSOCKET = z.object({
  live: LIVE,
  note: NOTE,
  url: z.url().describe('WebSocket URL'),
  authentication: z.string().describe('Authentication'),
  ticketUrl: z.url().describe('Ticket URL: POST with the token in `Authorization`'),
  requirement: TIER,
  pingSeconds: COUNT.describe('Seconds between pings of the server'),
  reconnectSeconds: COUNT.describe('Seconds to wait before reconnecting'),
  expiredCloseCode: z.int().describe('Close code when the token of a connection expires'),
  connectionsPerWallet: COUNT.describe('Concurrent connections per wallet'),
});

const WEBHOOKS = z.object({
  live: LIVE,
  note: NOTE,
  registerUrl: z.url().describe('Registration URL: POST'),
  listUrl: z.url().describe('List URL: GET; DELETE <url>/<id> deletes'),
  requirement: TIER,
  signature: z.string().describe('Signature scheme of deliveries'),
  webhooksPerWallet: COUNT.describe('Webhooks per wallet'),
});

export const COPY_TRADE_STATUS = z.object({
  success: SUCCESS,
  status: z
    .enum(['active', 'stale', 'starting'])
    .describe('active: intents are available; stale: a newer forecast is overdue; starting: no forecast yet'),
  lastSignalAt: TIME.nullable().describe('When the newest forecast was made; null before the first'),
  nextSignalAt: TIME.nullable().describe('When the next forecast and intent are due; null where the market data ends before'),
  note: z.string().describe('Effect of a HOLD signal on intents and wagers'),
  requirement: z.string().describe('Requirement of intents'),
  nextUrl: z.url().describe('Intent of the newest forecast: GET'),
  historyUrl: z.url().describe('Past intents with outcomes: GET'),
  venue: objectOf('Wager venue', {
    name: z.string().describe("Venue of the service's wagers"),
    quotesAreOurs: z.boolean().describe('True for quotes of the service itself, not of a real market'),
  }),
  channels: z.object({ websocket: WEBSOCKET.describe('WebSocket'), webhooks: WEBHOOKS.describe('Webhooks') }).describe('Event channels'),
  events: z.array(EVENT).describe('Events of all channels'),
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});
