import { z } from 'zod';
import { EVENT_NAMES } from '../../../../events/event-names.ts';
import { COUNT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const EVENT = z.object({
  type: z.enum(EVENT_NAMES).describe('Kind of event'),
  meaning: z.string().describe('What it says'),
  frequency: z.string().describe('How often it comes'),
});

const LIVE = z.boolean().describe('True when it delivers; false while it does not yet');
const NOTE = z.string().describe('What that means, in words');
const TIER = z.string().describe('What it asks for');

const WEBSOCKET = z.object({
  live: LIVE,
  note: NOTE,
  url: z.url().describe('Where to connect'),
  authentication: z.string().describe('How a connection is let in'),
  ticketUrl: z.url().describe('Where tickets are got: POST with the token in `Authorization`'),
  requirement: TIER,
  pingSeconds: COUNT.describe('Seconds from ping to ping of the server'),
  reconnectSeconds: COUNT.describe('Seconds to wait before connecting again'),
  expiredCloseCode: z.int().describe('Close code when the token of a connection expires'),
  connectionsPerWallet: COUNT.describe('Connections that a wallet can have at a time'),
});

const WEBHOOKS = z.object({
  live: LIVE,
  note: NOTE,
  registerUrl: z.url().describe('Where callbacks are registered: POST'),
  listUrl: z.url().describe('Where they are listed: GET; deleted: DELETE <url>/<id>'),
  requirement: TIER,
  signature: z.string().describe('How deliveries are signed'),
  webhooksPerWallet: COUNT.describe('Callbacks that a wallet can have'),
});

/** `GET /api/svc/copy-trade/status`. */
export const COPY_TRADE_STATUS = z.object({
  success: SUCCESS,
  status: z
    .enum(['active', 'stale', 'starting'])
    .describe('active: intents are there; stale: a newer forecast is overdue; starting: there is no forecast yet'),
  lastSignalAt: TIME.nullable().describe('When the newest forecast was made; null before the first'),
  nextSignalAt: TIME.nullable().describe(
    'When the next forecast, and with it the next intent, is due; null where the market data ends before: nothing is forecast then',
  ),
  note: z.string().describe('What a signal of HOLD means for intents, and for wagers'),
  requirement: z.string().describe('What intents ask for'),
  nextUrl: z.url().describe('The intent of the newest forecast: GET'),
  historyUrl: z.url().describe('Past intents with outcomes: GET'),
  venue: z
    .object({
      name: z.string().describe("Where the service's own wagers go"),
      quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: they stand for no real market'),
    })
    .describe('Where the service wagers'),
  channels: z
    .object({ websocket: WEBSOCKET.describe('Push over a socket'), webhooks: WEBHOOKS.describe('Push to callbacks') })
    .describe('How events are pushed'),
  events: z.array(EVENT).describe('What is pushed over every channel'),
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
});
