import { CLIENT_MESSAGES, SERVER_MESSAGES, type ServerData, type ServerMessageName } from '../websocket/messages/message-schemas.ts';
import { toMessageSchema } from './json-schema.ts';
import type { MessageObject } from './message-object.ts';

export type ClientMessageName = keyof typeof CLIENT_MESSAGES;

const TITLES: Readonly<Record<ServerMessageName | ClientMessageName, string>> = {
  connected: 'Connected',
  subscribed: 'Subscription replaced',
  authenticated: 'Fresh token taken',
  'token.expiring': 'Token expires soon',
  'replay.gap': 'Events that are gone',
  'replay.complete': 'Replay complete',
  pong: 'Pong',
  error: 'Error',
  subscribe: 'Subscribe',
  authenticate: 'Authenticate',
  ping: 'Ping',
};

export const REPLIES: Readonly<Record<ClientMessageName, readonly ServerMessageName[]>> = {
  subscribe: ['subscribed', 'error'],
  authenticate: ['authenticated', 'error'],
  ping: ['pong', 'error'],
};

const SENT_AT = '2021-03-10T21:30:00.000Z';
const EXPIRES_AT = '2021-03-10T21:59:12.000Z';
const SUBSCRIPTION: ServerData<'subscribed'> = { events: ['signal.new', 'signal.resolved'], horizons: ['7d'] };

const SERVER_EXAMPLES: { [Name in ServerMessageName]: ServerData<Name> } = {
  connected: {
    wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    tier: 'basic',
    expiresAt: EXPIRES_AT,
    lastEventId: 1_200,
    subscription: SUBSCRIPTION,
    pingSeconds: 30,
  },
  subscribed: SUBSCRIPTION,
  authenticated: { tier: 'basic', expiresAt: EXPIRES_AT },
  'token.expiring': { expiresAt: '2021-03-10T21:30:59.000Z' },
  'replay.gap': { from: 301, to: 417 },
  'replay.complete': { through: 1_200 },
  pong: { lastEventId: 1_200 },
  error: {
    code: 'INPUT_INVALID',
    message: 'The token belongs to another wallet than the connection',
    field: 'data.token',
    suggestedAction: 'Send a token of the same wallet, or open a connection for the other one.',
  },
};

const CLIENT_EXAMPLES: { [Name in ClientMessageName]: object } = {
  subscribe: { type: 'subscribe', data: { events: ['signal.new', 'signal.resolved'], horizons: ['7d'] } },
  authenticate: { type: 'authenticate', data: { token: '<ACCESS_TOKEN>' } },
  ping: { type: 'ping' },
};

export function buildServerMessages(): MessageObject[] {
  return listNames(SERVER_MESSAGES).map((name) =>
    toMessageObject(name, SERVER_MESSAGES[name], { type: name, data: SERVER_EXAMPLES[name], timestamp: SENT_AT }),
  );
}

export function buildClientMessages(): MessageObject[] {
  return listNames(CLIENT_MESSAGES).map((name) => toMessageObject(name, CLIENT_MESSAGES[name], CLIENT_EXAMPLES[name]));
}

type SocketMessageKind = (typeof SERVER_MESSAGES)[ServerMessageName] | (typeof CLIENT_MESSAGES)[ClientMessageName];

function toMessageObject(name: ServerMessageName | ClientMessageName, kind: SocketMessageKind, payload: object): MessageObject {
  const { schema, summary } = kind;
  return { name, title: TITLES[name], summary, contentType: 'application/json', payload: toMessageSchema(schema), examples: [{ payload }] };
}

function listNames<Name extends string>(kinds: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(kinds) as Name[];
}
