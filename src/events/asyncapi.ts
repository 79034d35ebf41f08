import { type Hex, keccak256, stringToBytes } from 'viem';
import { z } from 'zod';
import { deriveSalt } from '../chain/eas/eas.ts';
import { computeCommitment } from '../chain/eas/schemas.ts';
import { DAY_MS, parseDay, toInstantMs } from '../forecast/day.ts';
import { MODEL_NAME } from '../forecast/model.ts';
import { toInlineJsonSchema } from '../platform/validation.ts';
import { buildCid } from '../record/forecast-doc.ts';
import { MICROS } from '../wager/venue.ts';
import { type EventViewOptions, viewEvent } from './event-view.ts';
import { EVENT_ENVELOPE, EVENT_KINDS, PAYLOADS, PUSHED_NAMES, type PushedEvent, type PushedName, WEBSOCKET } from './events.ts';
import { EVENT_RETENTION_DAYS, type EventContent, type EventDoc } from './log.ts';
import { WEBHOOK_CALL_TIMEOUT_MS } from './webhooks/call.ts';
import { CHAT_NAMES, PING_MESSAGE } from './webhooks/formats.ts';
import { DISABLE_AFTER_FAILING_MS, RETRY_DELAYS_MS } from './webhooks/queue.ts';
import { CLIENT_MESSAGES, CLOSE_CODES, SERVER_MESSAGES } from './websocket/messages.ts';

interface AsyncApiOptions extends ExampleOptions {
  title: string;
  description: string;
  version: string;
  handshake: z.ZodObject;
}

/** AsyncAPI 3.1 of all messages, from the schemas that they are made by. */
export function buildAsyncApiDocument(options: AsyncApiOptions) {
  const events = mapNames(PUSHED_NAMES, (name) => buildEventMessage(name, options));
  const controls = Object.entries({ ...SERVER_MESSAGES, ...CLIENT_MESSAGES }).map(([name, kind]) => [name, toMessage(name, kind)]);
  const socket: Record<string, object> = { ...events, ...Object.fromEntries(controls) };
  const ping = toMessage('ping', { summary: 'Sent once on request of the owner: POST /api/svc/webhooks/{id}/test', schema: PING_MESSAGE });
  const sent = [...PUSHED_NAMES, ...Object.keys(SERVER_MESSAGES)];
  const headers = { $ref: '#/components/schemas/deliveryHeaders' };
  const deliveries = mapNames([...PUSHED_NAMES, 'ping'], (name) => ({ ...(events[name] ?? ping), headers }));
  return {
    asyncapi: '3.1.0',
    defaultContentType: 'application/json',
    info: {
      title: `${options.title}: events`,
      version: options.version,
      description: `${options.description}\n\n${EVENTS_DESCRIPTION}`,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      externalDocs: { description: 'The HTTP interface: login, tickets, webhooks', url: `${options.publicUrl}/docs` },
      tags: [{ name: 'events', description: 'Pushed events' }],
    },
    servers: buildServers(options),
    channels: {
      socket: {
        address: WEBSOCKET.path,
        title: 'Events over a WebSocket',
        description: SOCKET_RULES,
        servers: [{ $ref: '#/servers/socket' }],
        messages: mapNames(Object.keys(socket), (name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { ws: { method: 'GET', query: toSchema(options.handshake), bindingVersion: '0.1.0' } },
        'x-close-codes': Object.values(CLOSE_CODES).map(({ code, meaning }) => ({ code, meaning })),
      },
      webhook: {
        // The subscriber's URL.
        address: null,
        title: 'Events to a webhook',
        description: WEBHOOK_RULES,
        servers: [{ $ref: '#/servers/receiver' }],
        messages: mapNames(Object.keys(deliveries), (name) => ({ $ref: `#/components/messages/${name}.delivery` })),
        'x-retry-after-seconds': RETRY_DELAYS_MS.map((ms) => ms / 1_000),
      },
    },
    operations: {
      send: buildOperation('send', 'socket', sent, 'Events, and what concerns the connection'),
      receive: buildOperation('receive', 'socket', Object.keys(CLIENT_MESSAGES), 'What a client may send'),
      deliver: buildOperation('send', 'webhook', Object.keys(deliveries), 'Events of the registration, and tests of its owner'),
    },
    components: {
      messages: { ...socket, ...Object.fromEntries(Object.entries(deliveries).map(([name, one]) => [`${name}.delivery`, one])) },
      schemas: {
        ...mapNames(PUSHED_NAMES, (name) => ({ ...toSchema(PAYLOADS[name]), description: EVENT_KINDS[name].meaning })),
        deliveryHeaders: toSchema(DELIVERY_HEADERS),
      },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const EVENTS_DESCRIPTION = [
  'All events are in one log: `id` increases by one per event and is the same on every channel.',
  'A WebSocket delivers each event once, in order; after a disconnect, `since` resumes.',
  'A webhook receives each event at least once, in order, always with the same `webhook-id`.',
  'By default a subscriber receives the 7-day horizon: one `signal.new` and one `attestation.created` of type `prediction` a day,',
  'and at most one resolution. `horizon=2d`, `horizons=2d,7d` and `horizons=all` receive others; events without a horizon are always sent.',
  'Payloads may gain fields: ignore those you do not know.',
].join(' ');

const SOCKET_RULES = [
  `Requires a token of the Basic tier, as \`Authorization: Bearer\`, \`token\` or \`ticket\`; at most ${WEBSOCKET.connectionsPerWallet} connections per wallet.`,
  `The server sends a ping frame every ${WEBSOCKET.pingSeconds} seconds, and disconnects a client that does not answer before the next one.`,
  `After a disconnect wait ${WEBSOCKET.reconnectSeconds} seconds, then reconnect with \`since\`: events are kept for ${EVENT_RETENTION_DAYS} days.`,
  'Errors before the connection opens are HTTP responses of `application/problem+json`.',
].join(' ');

export const MAX_DELIVERY_ATTEMPTS = RETRY_DELAYS_MS.length + 1;

const WEBHOOK_RULES = [
  'Registered with POST /api/svc/webhooks/register and a token of the Basic tier; posted and signed according to Standard Webhooks.',
  `A 2xx response within ${WEBHOOK_CALL_TIMEOUT_MS / 1_000} seconds accepts a message. Anything else, redirects included, causes a retry,`,
  `up to ${MAX_DELIVERY_ATTEMPTS} attempts, while later messages wait. 410 disables the webhook at once, continuous failures do after`,
  `${DISABLE_AFTER_FAILING_MS / DAY_MS} days. A webhook registered with \`format\` ${CHAT_NAMES.join(', ')} receives the same events as texts for that chat:`,
  'this document describes the bodies of format json.',
].join(' ');

const DELIVERY_HEADERS = z.object({
  'webhook-id': z.string().describe('Id of the message, the same in all retries and replays of an event: use it to discard duplicates'),
  'webhook-timestamp': z.string().describe('Time of this attempt, Unix seconds; receivers reject those more than 5 minutes off'),
  'webhook-signature': z.string().describe('`v1,` and base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`; two during a rotation'),
});

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'Token from POST /api/svc/oracle/verify; it lasts 30 minutes.' },
  token: { type: 'httpApiKey', in: 'query', name: 'token', description: 'The same token, for clients that cannot send headers.' },
  ticket: { type: 'httpApiKey', in: 'query', name: 'ticket', description: 'From POST /api/svc/ws/ticket; valid for one connection.' },
} as const;

function buildServers({ publicUrl }: AsyncApiOptions) {
  const { host, protocol, pathname } = new URL(publicUrl);
  const path = pathname.replace(/\/+$/, '');
  const security = Object.keys(SECURITY_SCHEMES).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  const socket = { host, ...(path === '' ? {} : { pathname: path }), protocol: protocol === 'https:' ? 'wss' : 'ws', security };
  const receiver = { host: '{receiver}', protocol: 'https', variables: { receiver: { description: 'Host of the registered URL' } } };
  return { socket: { ...socket, description: 'The service' }, receiver: { ...receiver, description: 'A receiver' } };
}

function buildOperation(action: 'send' | 'receive', channel: 'socket' | 'webhook', names: readonly string[], summary: string) {
  const messages = names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }));
  return { action, channel: { $ref: `#/channels/${channel}` }, messages, summary };
}

/** The payload has its own component; one example, or one per tier if Premium receives more. */
function buildEventMessage(name: PushedName, options: ExampleOptions) {
  const { meaning, frequency } = EVENT_KINDS[name];
  const schema = z.object({ ...EVENT_ENVELOPE, type: z.literal(name).describe(EVENT_ENVELOPE.type.description!), data: z.unknown() });
  const message = toMessage(name, { summary: `${meaning}: ${frequency}`, schema });
  const payload = { ...message.payload, properties: { ...message.payload.properties, data: { $ref: `#/components/schemas/${name}` } } };
  const views = (['basic', 'premium'] as const).map((tier) => JSON.stringify(buildExampleView(name, tier, options)));
  return { ...message, payload, examples: [...new Set(views)].map((view) => ({ payload: JSON.parse(view) as object })) };
}

function toMessage(name: string, { summary, schema }: { summary: string; schema: z.ZodType }) {
  return { name, title: name, summary, contentType: 'application/json', payload: toSchema(schema) };
}

/** JSON Schema of draft 7, on which AsyncAPI builds. Objects are open: receivers ignore unknown fields. */
function toSchema(schema: z.ZodType) {
  return toInlineJsonSchema(schema, { target: 'draft-7', io: 'input' });
}

function mapNames<Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

type ExampleOptions = Pick<EventViewOptions, 'publicUrl' | 'chainId'>;

export const EXAMPLE_WEBHOOK = '6f1c1f0e-3f0b-4d3c-9a52-0d9c3a7e4b11';

/** Earlier than any record: no real forecast has these ids. */
const DATE = '2021-03-10';
const DAY = parseDay(DATE);
const ID = `${DATE}:7d`;
const at = (days: number, hours: number, minutes: number) => new Date(toInstantMs(DAY + days, hours, minutes));

/** The example salts open the example commitments. */
const SALT_SECRET = 'the events of the examples never were';
const hashWord = (of: string): Hex => keccak256(stringToBytes(of));

const probabilities = { confidence: 0.5614, confidenceBps: 5_614, pUp: 0.5614, pUpBps: 5_614 };
const values: EventContent['signal.new']['values'] = {
  signal: 'BUY',
  direction: 'UP',
  ...probabilities,
  btcPriceCents: 5_612_350,
  climatology: 0.5302,
  threshold: 0.03,
  distribution: { scale: 0.061, shift: 0.009 },
  priceQuantiles: { p05: 50_660.2, p10: 52_050.7, p25: 54_290.4, p50: 56_530.9, p75: 58_850.6, p90: 61_400.1, p95: 63_290.5 },
};
const forecast = { _id: ID, day: DAY, horizonDays: 7, sequence: 69, modelVersion: `${MODEL_NAME}.2021-02-12`, replayed: false };
const commitment = computeCommitment({ salt: deriveSalt(SALT_SECRET, ID), ...values });
const metadata = { commitment, cid: buildCid(hashWord('metadata')) };
const transactionCost = { gasUsed: 1_420_000, effectiveGasPriceWei: '6000000', attestationsInTransaction: 4 };
const buildAttested = (name: string, blockNumber: number, when: Date) => {
  return { uid: hashWord(name), txHash: hashWord(`transaction: ${name}`), blockNumber, at: when, ...transactionCost };
};
const prediction = buildAttested('prediction', 27_310_404, at(0, 21, 38));
const reveal = buildAttested('resolution', 27_613_204, at(8, 0, 5));

const resolution: EventContent['signal.resolved']['resolution'] = {
  btcAtSignalCents: 5_606_120,
  btcAtResolutionCents: 5_709_980,
  returnBps: 185,
  actualDirection: 'UP',
  outcome: 'WIN',
  venues: ['bitstamp', 'coinbase', 'kraken'],
  deviationBps: 3,
  decidedAt: at(8, 0, 2),
  batch: 'resolutions',
};

const market = { id: `paper:${DATE}:56000`, question: 'Will BTC/USD close above 56,000 on 2021-03-13 (UTC)?', strikeUsd: 56_000 };
const wager = {
  _id: DATE,
  venue: 'paper',
  asset: 'PAPER-USD',
  side: 'YES' as const,
  contracts: 20,
  costMicros: 9.8 * MICROS,
  replayed: false,
  market: { ...market, expiresAt: at(4, 0, 0) },
};

const move: EventContent['signal.new']['move'] = {
  modelVersion: 'm1.2021-02-12',
  moveSize: 'WILD',
  pBig: 0.582301,
  bigMove: 0.05129329,
  width80: 0.17210432,
  width90: 0.2251874,
  calmUpTo: 0.1192047,
  wildFrom: 0.16503311,
};

const EXAMPLE_CONTENTS: EventContent = {
  'signal.new': {
    ...forecast,
    move,
    moveSizeBefore: 'USUAL',
    commitment,
    values,
    late: false,
    regime: 'BULL_TREND',
    signalAt: at(0, 21, 35),
    windowOpensAt: at(1, 0, 0),
    resolvesAt: at(8, 0, 0),
  },
  'signal.resolved': { ...forecast, move, values, attestation: prediction, resolution, reveal, outcome: 'WIN' },
  'attestation.created': {
    ...forecast,
    ...metadata,
    kind: 'prediction',
    status: 'PENDING',
    attested: prediction,
    refUid: hashWord('prediction of the day before'),
  },
  'wager.placed': { ...wager, pModel: 0.548, qMarket: 0.48, pBelieved: 0.531, weight: 0.75, placedAt: at(0, 21, 42), skippedBecause: null },
  'wager.settled': { ...wager, winner: 'YES', payoutMicros: 20 * MICROS, settledAt: at(4, 0, 10), outcome: 'WIN' },
  'regime.changed': { date: DATE, from: 'CHOP', to: 'BULL_TREND', at: at(0, 21, 35), replayed: false },
  'webhook.disabled': {
    webhookId: EXAMPLE_WEBHOOK,
    url: 'https://bot.example/oracle',
    reason: 'Every attempt has failed for five days; the last one: HTTP 500',
    failingSince: at(3, 21, 35),
  },
};

const EXAMPLE_PLACES: Readonly<Record<PushedName, readonly [id: number, at: Date]>> = {
  'signal.new': [1_204, at(0, 21, 35)],
  'regime.changed': [1_205, at(0, 21, 35)],
  'attestation.created': [1_209, at(0, 21, 38)],
  'wager.placed': [1_210, at(0, 21, 42)],
  'wager.settled': [1_224, at(4, 0, 10)],
  'signal.resolved': [1_251, at(8, 0, 5)],
  'webhook.disabled': [1_257, at(8, 21, 35)],
};

export function buildExampleEvent<Name extends PushedName>(type: Name): EventDoc<Name> {
  const [_id, when] = EXAMPLE_PLACES[type];
  const common = { _id, key: `example:${type}`, type, at: when, horizonDays: null, wallet: null, appendedAt: when };
  return { ...common, content: EXAMPLE_CONTENTS[type] };
}

export function buildExampleView<Name extends PushedName>(type: Name, tier: 'basic' | 'premium', options: ExampleOptions) {
  const event = buildExampleEvent(type) as Parameters<typeof viewEvent>[0];
  const eventView = viewEvent(event, { tier }, { ...options, saltSecret: SALT_SECRET, policy: 'resolution' });
  return eventView as PushedEvent<Name>;
}
