import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { composeWebhookDelivery } from '../../../../../src/app/events.ts';
import { CHAT_NAMES } from '../../../../../src/events/webhooks/formats.ts';
import { buildMessageId, type WebhookDoc } from '../../../../../src/events/webhooks/queue.ts';
import {
  DELIVERIES_REPLY,
  REGISTERED_REPLY,
  REPLAY_REPLY,
  ROTATED_SECRET_REPLY,
  TEST_REPLY,
  WEBHOOK_REPLY,
} from '../../../../../src/http/routes/webhooks.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';
import { startChat } from '../../../../support/webhooks/chat-server.ts';
import { type Received, type Receiver, startReceiver } from '../../../../support/webhooks/receiver.ts';
import { regimeDraft } from '../../../../support/webhooks/webhook-registry.ts';

const LIST = '/api/svc/webhooks';
const NOBODYS = '00000000-0000-4000-8000-000000000000';
const OWN_SECRET = 'a shared secret, long enough for them';

let service: TestService;
let served: Served;
let headers: Record<'basic' | 'premium' | 'nobody', Record<string, string>>;
const receivers: Receiver[] = [];
const logged: string[] = [];
const responses: string[] = [];
const secrets: string[] = [];

beforeAll(async () => {
  service = await testService(0, { PUSH_LOCAL_TARGETS: 'allow' });
  const log = createLog({ level: 'trace', secrets: [], write: (line) => void logged.push(line) });
  served = await serveApp(createApp(allRoutes(service.http), { ...service.appOptions, log }));
  headers = { basic: await asTier(service, 'basic'), premium: await asTier(service, 'premium'), nobody: {} };
  await startDelivering(log);
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
  await served.close();
  await service.stop();
});

/** As in a worker. */
async function startDelivering(log: ReturnType<typeof createLog>) {
  const { http, config, shutdown, database, push, infrastructure, time } = service;
  const { db } = database;
  const { saltSecret, publicUrl, now } = http;
  const { chainId } = http.chain;
  const view = { saltSecret, publicUrl, chainId, policy: config.REVEAL };
  const { encryptionSecret } = infrastructure;
  const parts = { db, push, encryptionSecret, view, tierOf: (wallet: string) => http.access.getWalletTier(wallet), now, time };
  await composeWebhookDelivery({ config, log, shutdown }, parts).start();
}

async function receiver(...statuses: [number, ...number[]]): Promise<Receiver> {
  const one = await startReceiver(...statuses);
  receivers.push(one);
  return one;
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  body: any;
}

async function send(method: string, path: string, body?: unknown, who: keyof typeof headers = 'basic'): Promise<Answer> {
  const response = await fetch(served.url + path, {
    method,
    headers: { ...headers[who], ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = JSON.parse(text);
  const { secret, verificationKey, ...rest } = answer;
  if (response.ok && secret !== undefined) secrets.push(secret, verificationKey);
  responses.push(JSON.stringify(response.ok ? rest : answer));
  return { status: response.status, body: answer };
}

async function register(url: string, more: object = {}): Promise<{ id: string; path: string; secret: string }> {
  const { status, body } = await send('POST', `${LIST}/register`, { url, events: ['regime.changed', 'webhook.disabled'], ...more });
  expect(status).toBe(201);
  return { id: body.id, path: `${LIST}/${body.id}`, secret: body.secret };
}

const stored = async (id: string) => (await service.database.db.collection<WebhookDoc>('webhooks').findOne({ _id: id }))!;

/** Without what a worker writes at any time. */
async function settings(id: string) {
  const { queuedThrough: _queuedThrough, ...rest } = await stored(id);
  return rest;
}

/** As if its last test were long ago. */
const rested = (id: string) =>
  service.database.db.collection<WebhookDoc>('webhooks').updateOne({ _id: id }, { $set: { testedAt: new Date(0) } });

const queueEmpty = (path: string) =>
  expect.poll(async () => (await send('GET', `${path}/deliveries?state=PENDING`)).body.count, { interval: 20, timeout: 5_000 }).toBe(0);

let happened = 0;

/** So many events, as a process of the pipeline brings them into the log. Their keys. */
async function happen(count: number): Promise<string[]> {
  const at = service.http.now();
  const keys = Array.from({ length: count }, () => `life:${++happened}`);
  await service.push.events.append(
    keys.map((key) => regimeDraft(key, at)),
    at,
  );
  return keys;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
function verified({ body, headers: sent }: Received, secret: string): any {
  const verifier = secret.startsWith('whsec_') ? new Verifier(secret) : new Verifier(secret, { format: 'raw' });
  return verifier.verify(body, sent as Record<string, string>);
}

function expectDescribed(schema: z.ZodType, body: unknown) {
  expect(undocumented(schema, body)).toEqual([]);
}

describe('a webhook', () => {
  it('is tested, called, changed, replayed, disabled by its receiver, enabled and deleted', async () => {
    const target = await receiver(204);
    const { id, path, secret } = await register(`${target.url}/hook`);

    const test = await send('POST', `${path}/test`);
    expect(test).toMatchObject({ status: 200, body: { success: true, delivered: true, status: 204, reason: null } });
    expectDescribed(TEST_REPLY, test.body);
    const [ping] = await target.until(1);
    expect(ping).toMatchObject({ method: 'POST', path: '/hook', headers: { 'webhook-id': test.body.messageId } });
    expect(verified(ping!, secret)).toMatchObject({ type: 'ping', data: { webhookId: id } });

    const rotated = await send('POST', `${path}/secret`, { secret: OWN_SECRET });
    expect(rotated).toMatchObject({ status: 200, body: { id, secret: OWN_SECRET } });
    expectDescribed(ROTATED_SECRET_REPLY, rotated.body);
    const { secretSetAt, previousSecretUntil } = rotated.body;
    expect(Date.parse(previousSecretUntil) - Date.parse(secretSetAt)).toBe(86_400_000);

    const keys = await happen(3);
    const live = (await target.until(4)).slice(1);
    expect(live.map(({ headers: sent }) => sent['webhook-id'])).toEqual(keys.map(buildMessageId));
    for (const call of live) {
      expect(verified(call, OWN_SECRET)).toEqual(verified(call, secret));
      expect(verified(call, OWN_SECRET)).toMatchObject({ type: 'regime.changed', data: { to: 'BULL_TREND' } });
      expect(() => verified({ ...call, body: call.body.replace('BULL', 'BEAR') }, OWN_SECRET)).toThrow();
    }
    await queueEmpty(path);

    const first = verified(live[0]!, secret).id;
    const replay = await send('POST', `${path}/replay`, { sinceId: first });
    expect(replay).toMatchObject({ status: 202, body: { queued: 2, from: first + 1, to: first + 2 } });
    expectDescribed(REPLAY_REPLY, replay.body);
    const again = (await target.until(6)).slice(4);
    expect(again.map(({ headers: sent }) => sent['webhook-id'])).toEqual(keys.slice(1).map(buildMessageId));
    await queueEmpty(path);

    const { body: log } = await send('GET', `${path}/deliveries`);
    expectDescribed(DELIVERIES_REPLY, log);
    expect(log.deliveries.map(({ position, type, cause, state }: Record<string, unknown>) => [position, type, cause, state])).toEqual([
      [6, 'regime.changed', 'replay', 'DELIVERED'],
      [5, 'regime.changed', 'replay', 'DELIVERED'],
      [4, 'regime.changed', 'live', 'DELIVERED'],
      [3, 'regime.changed', 'live', 'DELIVERED'],
      [2, 'regime.changed', 'live', 'DELIVERED'],
      [1, 'ping', 'ping', 'DELIVERED'],
    ]);
    expect(log.deliveries[0]).toMatchObject({ replayId: replay.body.replayId, eventId: first + 2, nextAttemptAt: null });
    expect(log.deliveries[0].attempts).toEqual([{ at: expect.any(String), status: 204, ms: expect.any(Number), reason: null }]);

    const leaving = await receiver(410, 410, 204);
    const moved = await send('PATCH', path, { url: leaving.url, horizons: ['7d'] });
    expect(moved).toMatchObject({
      status: 200,
      body: { url: `${leaving.url}/`, horizons: ['7d'], events: ['regime.changed', 'webhook.disabled'] },
    });
    expectDescribed(WEBHOOK_REPLY, moved.body);
    await happen(2);
    await leaving.until(1);
    await expect
      .poll(async () => (await send('GET', path)).body, { interval: 20, timeout: 5_000 })
      .toMatchObject({ status: 'disabled', disabledBy: 'receiver', disabledReason: expect.stringContaining('410') });
    await queueEmpty(path);
    expect((await send('POST', `${path}/replay`, { sinceId: 0 })).status).toBe(409);
    await rested(id);
    expect((await send('POST', `${path}/test`)).body).toMatchObject({ delivered: false, status: 410, reason: 'HTTP 410' });

    const [missed] = await happen(1);
    const enabled = await send('POST', `${path}/enable`);
    expect(enabled).toMatchObject({ status: 200, body: { status: 'active', disabledAt: null, disabledBy: null, failingSince: null } });
    expectDescribed(WEBHOOK_REPLY, enabled.body);
    const [next] = await happen(1);
    const ids = () => leaving.received.map(({ headers: sent }) => sent['webhook-id']);
    await expect.poll(ids, { interval: 20, timeout: 5_000 }).toContain(buildMessageId(next!));
    expect(ids()).not.toContain(buildMessageId(missed!));

    expect((await send('DELETE', path)).status).toBe(200);
    for (const [method, what] of [
      ['GET', ''],
      ['GET', '/deliveries'],
      ['POST', '/test'],
    ] as const)
      expect((await send(method, path + what)).status).toBe(404);
    expect(await service.database.db.collection('webhook_deliveries').countDocuments({ webhookId: id })).toBe(0);
  });

  it('is tested once per interval, and an unreachable receiver is reported without waiting', async () => {
    const target = await receiver(500);
    const { path, id } = await register(target.url);
    expect((await send('POST', `${path}/test`)).body).toMatchObject({ delivered: false, status: 500, reason: 'HTTP 500' });
    const soon = await send('POST', `${path}/test`);
    expect([soon.status, soon.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(target.received).toHaveLength(1);

    await target.close();
    await rested(id);
    expect((await send('POST', `${path}/test`)).body).toMatchObject({ delivered: false, status: null, reason: 'No answer (ECONNREFUSED)' });
    expect(await stored(id)).toMatchObject({ status: 'active', failingSince: null });
    await send('DELETE', path);
  });

  it('pages its deliveries, also by state', async () => {
    const { path, id } = await register((await receiver(204)).url);
    await happen(5);
    const delivered = async () => (await send('GET', `${path}/deliveries?state=DELIVERED`)).body.count;
    await expect.poll(delivered, { interval: 20, timeout: 10_000 }).toBe(5);
    const positions = ({ body }: Answer) => body.deliveries.map(({ position }: { position: number }) => position);
    const first = await send('GET', `${path}/deliveries?limit=2`);
    expect([positions(first), first.body.nextBefore]).toEqual([[5, 4], 4]);
    const second = await send('GET', `${path}/deliveries?limit=2&before=${first.body.nextBefore}`);
    expect([positions(second), second.body.nextBefore]).toEqual([[3, 2], 2]);
    const last = await send('GET', `${path}/deliveries?limit=2&before=2`);
    expect([positions(last), last.body.nextBefore]).toEqual([[1], null]);
    await service.database.db.collection('webhook_deliveries').updateOne({ webhookId: id, position: 3 }, { $set: { state: 'FAILED' } });
    expect(positions(await send('GET', `${path}/deliveries?state=FAILED`))).toEqual([3]);
    expect(positions(await send('GET', `${path}/deliveries?state=DELIVERED&before=4`))).toEqual([2, 1]);
    for (const query of ['limit=0', 'limit=101', 'before=0', 'before=-1', 'before=1e3', 'state=pending', 'state='])
      expect((await send('GET', `${path}/deliveries?${query}`)).body, query).toMatchObject({ status: 400, field: query.split('=')[0] });
    await send('DELETE', path);
  });
});

const OPERATIONS: [string, string, unknown?][] = [
  ['GET', ''],
  ['PATCH', '', { horizons: ['7d'] }],
  ['POST', '/secret', {}],
  ['POST', '/secret'],
  ['POST', '/enable'],
  ['POST', '/test'],
  ['POST', '/replay', { sinceId: 0 }],
  ['GET', '/deliveries'],
  ['DELETE', ''],
];

describe('every webhook operation', () => {
  it.each(OPERATIONS)('is restricted to the owner: %s %s', async (method, what, body) => {
    const { path, id } = await register((await receiver(204)).url);
    await happen(1);
    await queueEmpty(path);
    const before = await settings(id);
    expect((await send(method, path + what, body, 'nobody')).status).toBe(401);
    const foreign = await send(method, path + what, body, 'premium');
    const unknown = await send(method, `${LIST}/${NOBODYS}${what}`, body, 'premium');
    expect([foreign.status, foreign.body.code]).toEqual([404, 'NOT_FOUND']);
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    expect(await settings(id)).toEqual(before);
    const { status } = await send(method, path + what, body);
    expect(status).toBe(what === '/replay' ? 202 : 200);
    await send('DELETE', path);
  });

  it.each(OPERATIONS)('names its webhook by id: %s %s', async (method, what, body) => {
    for (const id of ['1', 'null', '%00', 'x'.repeat(1_000)])
      expect((await send(method, `${LIST}/${id}${what}`, body)).body).toMatchObject({ status: 400, field: 'id' });
  });

  it.each<[string, string, string, unknown]>([
    ['PATCH', '', 'url', { url: 'http://hooks.example.com/' }],
    ['PATCH', '', 'url', { url: 'https://10.0.0.1/' }],
    ['PATCH', '', 'url', { url: null }],
    ['PATCH', '', 'events', { events: [] }],
    ['PATCH', '', 'events.0', { events: ['ping'] }],
    ['PATCH', '', 'horizons', { horizons: [] }],
    ['PATCH', '', 'secret', { secret: OWN_SECRET }],
    ['PATCH', '', 'status', { status: 'active' }],
    ['PATCH', '', 'body', []],
    ['POST', '/secret', 'secret', { secret: 'short' }],
    ['POST', '/secret', 'secret', { secret: 'x'.repeat(257) }],
    ['POST', '/secret', 'secret', { secret: null }],
    ['POST', '/secret', 'key', { key: 'x' }],
    ['POST', '/replay', 'since', {}],
    ['POST', '/replay', 'since', { since: 'yesterday' }],
    ['POST', '/replay', 'since', { since: '2026-01-31' }],
    ['POST', '/replay', 'since', { since: 1_700_000_000_000 }],
    ['POST', '/replay', 'since', { since: '2020-01-01T00:00:00Z' }],
    ['POST', '/replay', 'since', { since: `2026-01-31T00:00:00.${'0'.repeat(1_000)}Z` }],
    ['POST', '/replay', 'eventId', { eventId: '1' }],
    ['POST', '/replay', 'eventId', { eventId: 0 }],
    ['POST', '/replay', 'eventId', { eventId: 1_000_000 }],
    ['POST', '/replay', 'sinceTime', { sinceTime: 'yesterday' }],
    ['POST', '/replay', 'sinceTime', { since: new Date().toISOString(), sinceTime: new Date().toISOString() }],
    ['POST', '/replay', 'sinceId', { sinceId: -1 }],
    ['POST', '/replay', 'sinceId', { sinceId: 0.5 }],
    ['POST', '/replay', 'sinceId', { sinceId: 1_000_000 }],
    ['POST', '/replay', 'sinceId', { sinceId: 0, eventId: 1 }],
    ['POST', '/replay', 'until', { sinceId: 0, until: 'now' }],
    ['POST', '/replay', 'id', { id: 1 }],
  ])('rejects invalid input: %s %s %s %o', async (method, what, field, body) => {
    const { path, id } = await register('http://127.0.0.1:9/');
    const before = await stored(id);
    const refused = await send(method, path + what, body);
    expect([refused.status, refused.body.code, refused.body.field]).toEqual([400, 'INPUT_INVALID', field]);
    expect(await stored(id)).toEqual(before);
    await send('DELETE', path);
  });
});

describe('a secret', () => {
  it.each<[string, string | undefined]>([
    ['a generated one', undefined],
    ['whsec_ and base64', `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`],
    ['whsec_ and base64 without padding', `whsec_${Buffer.alloc(32, 0xfb).toString('base64').replace('=', '')}`],
    ['bare base64', Buffer.alloc(32, 0xfb).toString('base64')],
    ['hex', Buffer.alloc(32, 0xfb).toString('hex')],
    ['v1,whsec_', `v1,whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`],
    ['any other text', 'ein geteiltes Geheimnis: \u{1f511}'],
  ])('of any form is answered with the key that a stock library verifies with: %s', async (_, given) => {
    const target = await receiver(204);
    const { body: made } = await send('POST', `${LIST}/register`, { url: target.url, events: ['regime.changed'], secret: given });
    expectDescribed(REGISTERED_REPLY, made);
    if (given !== undefined) expect(made.secret).toBe(given);
    await send('POST', `${LIST}/${made.id}/test`);
    const [ping] = await target.until(1);
    const verify = (key: string) => new Verifier(key).verify(ping!.body, ping!.headers as Record<string, string>);
    expect(verify(made.verificationKey)).toMatchObject({ type: 'ping', data: { webhookId: made.id } });
    const other = await send('POST', `${LIST}/${made.id}/secret`, {});
    expect(() => verify(other.body.verificationKey)).toThrow();
    const same = await send('POST', `${LIST}/${made.id}/secret`, { secret: made.secret });
    expect(verify(same.body.verificationKey)).toMatchObject({ type: 'ping' });
    expect((await send('GET', `${LIST}/${made.id}`)).body).not.toHaveProperty('verificationKey');
    await send('DELETE', `${LIST}/${made.id}`);
  });

  it('sealed under another master secret is reported, and can be replaced or its webhook deleted', async () => {
    const target = await receiver(204);
    const { path, id, secret: lost } = await register(target.url);
    const box = createSecretBox('another master secret, long enough');
    const sealed = box.seal('webhook-secret', id, lost);
    const webhooks = service.database.db.collection<WebhookDoc>('webhooks');
    const validUntil = new Date(service.http.now().getTime() + 3_600_000);
    await webhooks.updateOne({ _id: id }, { $set: { sealedSecret: sealed, previousSecret: { sealed, validUntil } } });

    const test = await send('POST', `${path}/test`);
    expect([test.status, test.body.code]).toEqual([409, 'CONFLICT']);
    expect(test.body.suggestedAction).toContain('/secret');
    expect(JSON.stringify(test.body)).not.toMatch(/ENCRYPTION|v1\./);
    expect((await send('GET', path)).status).toBe(200);

    const { status, body } = await send('POST', `${path}/secret`);
    expect([status, body.previousSecretUntil]).toEqual([200, null]);
    await rested(id);
    expect((await send('POST', `${path}/test`)).body).toMatchObject({ delivered: true, status: 204 });
    verified(target.received[0]!, body.secret);

    await webhooks.updateOne({ _id: id }, { $set: { sealedSecret: sealed } });
    expect((await send('DELETE', path)).status).toBe(200);
  });

  it('is in no other response, no log line, and in no document in clear', async () => {
    const { path } = await register('http://127.0.0.1:9/', { secret: OWN_SECRET });
    await send('POST', `${path}/secret`);
    await send('PATCH', path, { url: 'http://127.0.0.1:10/' });
    await send('POST', `${path}/secret`, { secret: `${OWN_SECRET}\n` });
    await send('GET', path);
    await send('GET', LIST);
    expect(secrets.length).toBeGreaterThan(10);
    const clear = new Set(secrets.flatMap((secret) => [secret.replace('whsec_', ''), keyOf(secret).toString('hex')]));
    const names = (await service.database.db.listCollections().toArray()).map(({ name }) => name);
    const documents = await Promise.all(names.map((name) => service.database.db.collection(name).find().toArray()));
    expect(logged.length).toBeGreaterThan(20);
    for (const text of [responses.join('\n'), logged.join('\n'), JSON.stringify(documents)]) {
      expect([...clear].filter((secret) => text.includes(secret))).toEqual([]);
    }
    await send('DELETE', path);
  });
});

describe('a webhook to a chat', () => {
  it.each(CHAT_NAMES)('posts a test and events as texts, and its URL is in no response, log line or document: %s', async (format) => {
    const chat = await startChat(format);
    const first = responses.length;
    const fields = { format, ...(chat.chatId !== null && { chatId: chat.chatId }) };
    const { path, id } = await register(chat.url, fields);
    const shown = (await send('GET', path)).body;
    expectDescribed(WEBHOOK_REPLY, shown);
    expect(shown).toMatchObject({ ...fields, url: `${new URL(chat.url).origin}/***${chat.token.slice(-4)}`, chatId: chat.chatId });
    expect(
      (await send('POST', `${LIST}/register`, { url: chat.url, events: ['regime.changed', 'webhook.disabled'], ...fields })).status,
    ).toBe(409);

    expect((await send('POST', `${path}/test`)).body).toMatchObject({ delivered: true, reason: null });
    expect(JSON.stringify(chat.posted[0])).toContain('it works');
    await happen(1);
    await expect.poll(() => chat.posted.length, { interval: 20, timeout: 10_000 }).toBe(2);
    expect(JSON.stringify(chat.posted[1])).toContain('Bull trend');

    expect((await send('PATCH', path, { url: `${chat.url}?x=1` })).body).toMatchObject({ code: 'INPUT_INVALID', field: 'url' });
    chat.refuse({ status: 401, body: { ok: false } });
    await happen(1);
    await expect.poll(async () => (await stored(id)).status, { interval: 20, timeout: 10_000 }).toBe('disabled');
    await send('GET', LIST);
    await send('GET', `${path}/deliveries`);
    const names = (await service.database.db.listCollections().toArray()).map(({ name }) => name);
    const documents = await Promise.all(names.map((name) => service.database.db.collection(name).find().toArray()));
    for (const text of [responses.slice(first).join('\n'), logged.join('\n'), JSON.stringify(documents)]) {
      expect(text.includes(chat.token.slice(0, -4))).toBe(false);
    }
    await send('DELETE', path);
    await chat.close();
  });
});

function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
}
