import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES, PUSHED_NAMES } from '../../../src/events/events.ts';
import { SERVER_MESSAGES } from '../../../src/events/websocket/messages.ts';
import { asTier, loginToken } from '../../support/auth/login.ts';
import { type ManualClock, manualClock } from '../../support/clock/manual-clock.ts';
import { type PushService, pushService, servePush } from '../../support/events/push-service.ts';
import { type AsyncApi, fetchAsyncApi, headerFaults, messageFaults } from '../../support/http/asyncapi.ts';
import type { Served } from '../../support/http/serve.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';
import { type Client, openClient } from '../../support/websocket/websocket-client.ts';

/** For the connection, a token that is fresh for the service expires little more than the minute of notice later. */
const AHEAD_MS = 28.8 * 60_000;

let service: PushService;
let clock: ManualClock;
let served: Served;
let document: AsyncApi;
let taking: Receiver;
let gone: Receiver;
/** Subscribers. */
let basic: Client;
let premium: Client;
let webhook: { id: string; secret: string };

beforeAll(async () => {
  service = await pushService();
  clock = manualClock(new Date(Date.now() + AHEAD_MS));
  served = await servePush(service, { clock });
  [taking, gone] = await Promise.all([startReceiver(204), startReceiver(410)]);
  document = await fetchAsyncApi(served.url);
  webhook = await register(taking, PUSHED_NAMES);
  await register(gone, ['regime.changed']);
  await service.liveDay();
  [basic, premium] = await Promise.all([connect('basic', 'since=0&horizons=all'), connect('premium', 'since=0&horizons=all')]);
  // The second day has another regime than the first, which one of the receivers answers with 410.
  await service.liveDay();
  await premium.first('webhook.disabled');
  const last = await service.push.events.lastId();
  await premium.until(() => premium.eventIds().at(-1) === last);
  // One of them is none of its business.
  await basic.until(() => basic.eventIds().length === premium.eventIds().length - 1);
  while (!receivedTypes().has('webhook.disabled')) await taking.until(taking.received.length + 1);
});
afterAll(async () => {
  for (const client of [basic, premium]) client.socket.terminate();
  for (const receiver of [taking, gone]) await receiver.close();
  await served.close();
  await service.stop();
});

async function connect(tier: 'basic' | 'premium', query: string): Promise<Client> {
  const url = `${served.url.replace('http', 'ws')}/ws/signal?${query}`;
  const client = await openClient(url, { headers: await asTier(service, tier) });
  await client.first('connected');
  return client;
}

async function register({ url }: Receiver, events: readonly string[]): Promise<{ id: string; secret: string }> {
  const response = await fetch(`${served.url}/api/svc/webhooks/register`, {
    method: 'POST',
    headers: { ...(await asTier(service, 'premium')), 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${url}/`, events, horizons: 'all' }),
  });
  return (await response.json()) as { id: string; secret: string };
}

const typesOf = (messages: readonly { type: string }[]) => new Set(messages.map(({ type }) => type));
const faultsOf = (messages: readonly { type: string }[]) => messages.flatMap((message) => messageFaults(document, 'socket', message));
const receivedTypes = () => typesOf(taking.received.map(({ body }) => JSON.parse(body)));

describe('what is sent is as the served document says', () => {
  it('over the socket: every event, to Basic and to Premium', () => {
    expect([...typesOf(basic.messages)]).toEqual(expect.arrayContaining([...EVENT_NAMES]));
    expect([...typesOf(premium.messages)]).toEqual(expect.arrayContaining([...PUSHED_NAMES]));
    expect(typesOf(basic.messages)).not.toContain('webhook.disabled');
    expect([...faultsOf(basic.messages), ...faultsOf(premium.messages)]).toEqual([]);
  });

  it('over the socket: everything that concerns the connection', async () => {
    const client = await connect('basic', 'events=regime.changed');
    const sent = [
      { type: 'subscribe', data: { horizons: ['7d'] } },
      { type: 'authenticate', data: { token: 'no token' } },
      { type: 'ping' },
    ];
    expect(faultsOf(sent)).toEqual([]);
    for (const message of sent) client.send(message);
    client.send({ type: 'authenticate', data: { token: await loginToken(service, 'basic') } });
    await client.first('authenticated');
    await service.push.events.purge(new Date(Date.now() + 1_000 * 86_400_000));
    const late = await connect('basic', 'since=1');
    await late.first('replay.complete');
    clock.advance(20_000);
    await late.first('token.expiring');
    const all = [...client.messages, ...late.messages];
    expect([...typesOf(all)]).toEqual(expect.arrayContaining(Object.keys(SERVER_MESSAGES)));
    expect(faultsOf(all)).toEqual([]);
    for (const { socket } of [client, late]) socket.terminate();
  });

  it('to a webhook: every event and a test, with headers that verify', async () => {
    const headers = await asTier(service, 'premium');
    const tested = await fetch(`${served.url}/api/svc/webhooks/${webhook.id}/test`, { method: 'POST', headers });
    expect(await tested.json()).toMatchObject({ delivered: true });
    const verify = ({ body, headers }: Receiver['received'][number]) =>
      new Webhook(webhook.secret).verify(body, headers as Record<string, string>) as { type: string };
    const messages = taking.received.map(verify);
    expect([...typesOf(messages)].toSorted()).toEqual([...PUSHED_NAMES, 'ping'].toSorted());
    expect(messages.flatMap((message) => messageFaults(document, 'webhook', message))).toEqual([]);
    expect(taking.received.flatMap((one) => headerFaults(document, one.headers))).toEqual([]);
  });

  it('is the same over both channels', () => {
    const ofSocket = new Map(premium.messages.map((message) => [message.id, message]));
    const events = taking.received.map(({ body }) => JSON.parse(body)).filter(({ id }) => id !== null);
    expect(events.length).toBeGreaterThan(30);
    expect(events).toEqual(events.map(({ id }) => ofSocket.get(id)));
  });
});

it('what a client may not send is rejected by the document and by the service', async () => {
  const client = await connect('premium', 'events=wager.placed');
  const wrong = { type: 'ping', more: 1 };
  expect(faultsOf([wrong])).not.toEqual([]);
  client.send(wrong);
  expect(await client.first('error')).toMatchObject({ data: { code: 'INPUT_INVALID' } });
  client.socket.terminate();
});

describe('the served document', () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(served.url + path, { headers });

  it('is cacheable, and is not sent again to a client with its ETag', async () => {
    const { headers } = await get('/.well-known/asyncapi.json');
    expect(headers.get('content-type')).toContain('application/json');
    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    expect((await get('/.well-known/asyncapi.json', { 'If-None-Match': headers.get('etag')! })).status).toBe(304);
  });

  it('is named where the other documents are', async () => {
    for (const path of ['/', '/api/claw/ecosystem', '/llms.txt']) {
      expect(await (await get(path)).text(), path).toContain('/.well-known/asyncapi.json');
    }
  });
});
