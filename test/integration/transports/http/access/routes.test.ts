import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { MAX_API_KEYS_PER_WALLET } from '../../../../../src/auth/api-keys.ts';
import { ACCESS_REPLY, ENDED_REPLY, KEY_REPLY, TEXT_REPLY } from '../../../../../src/http/routes/access.ts';
import { issueKey } from '../../../../support/auth/api-keys.ts';
import { asTier, type DemoWallet, demoWallets } from '../../../../support/auth/login.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';
import { openClient } from '../../../../support/websocket/websocket-client.ts';

const KEYS = '/api/svc/oracle/keys';
const ACCESS = '/api/svc/oracle/access';
/** Requires Basic. */
const GATED = '/api/svc/webhooks';

let service: TestService;
let served: Served;
let premium: Record<string, string>;
let basic: Record<string, string>;

beforeAll(async () => {
  service = await testService(0);
  served = await serve(service);
  [premium, basic] = [await asTier(service, 'premium'), await asTier(service, 'basic')];
});
afterAll(async () => {
  await served.close();
  await service.stop();
});
afterEach(async () => {
  await service.database.db.collection('api_keys').deleteMany({});
});

async function send(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(`${served.url}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** As a client makes a key: the text that the service composes, signed by the wallet. */
async function requestKey(body: object = {}, wallet: DemoWallet = 'premium') {
  const account = demoWallets(service)[wallet];
  const composed = await send('POST', `${KEYS}/message`, {}, { wallet: account.address, label: 'a bot', tier: 'basic', ...body });
  if (composed.status !== 200) return composed;
  expectDescribed(TEXT_REPLY, composed.body);
  return send('POST', KEYS, {}, await signText(wallet, composed.body.message));
}

const makeKey = async (body: object = {}, wallet: DemoWallet = 'premium') => (await requestKey(body, wallet)).body;

const signText = async (wallet: DemoWallet, message: string) => ({
  message,
  signature: await demoWallets(service)[wallet].signMessage({ message }),
});

async function accessText(wallet: DemoWallet, revoke: string | null = null) {
  const { body } = await send('POST', `${ACCESS}/message`, {}, { wallet: demoWallets(service)[wallet].address, revoke });
  return signText(wallet, body.message);
}

function expectDescribed(schema: z.ZodType, body: unknown) {
  expect(undocumented(schema, body)).toEqual([]);
}

describe('a key', () => {
  it('is made by a signed text and shown once, listed without its secret, and ends when it is revoked', async () => {
    const made = await requestKey({ label: 'Trading bot', expiresInDays: 30 });
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'private, no-store']);
    expectDescribed(KEY_REPLY, made.body);
    const { key, success: _, wallet, ...entry } = made.body;
    expect(entry).toMatchObject({ kind: 'key', name: 'Trading bot', tier: 'basic', lastUsedAt: null });
    expect(Date.parse(entry.expiresAt) - Date.parse(entry.createdAt)).toBe(30 * 86_400_000);

    const listed = await send('GET', ACCESS, premium);
    expectDescribed(ACCESS_REPLY, listed.body);
    expect(listed.body).toEqual({ success: true, wallet, access: [entry], count: 1, maxKeys: MAX_API_KEYS_PER_WALLET });
    expect(listed.headers.get('cache-control')).toBe('private, no-store');
    expect((await send('GET', ACCESS, basic)).body.access).toEqual([]);

    expect((await send('GET', GATED, bearer(key))).status).toBe(200);
    expect((await send('GET', ACCESS, premium)).body.access[0].lastUsedAt).not.toBeNull();

    expect((await send('DELETE', `${ACCESS}/${entry.id}`, basic)).status).toBe(404);
    const ended = await send('DELETE', `${ACCESS}/${entry.id}`, premium);
    expectDescribed(ENDED_REPLY, ended.body);
    expect((await send('DELETE', `${ACCESS}/${entry.id}`, premium)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    const rejected = await send('GET', GATED, bearer(key));
    expect(rejected.body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(rejected.headers.get('www-authenticate')).toBe('Bearer realm="oracle", error="invalid_token"');
  });

  it('is stored as its hash alone', async () => {
    const { key } = await makeKey();
    const [doc] = await service.database.db.collection('api_keys').find().toArray();
    expect(JSON.stringify(doc)).not.toContain(key.slice(4, -6));
    expect(doc!.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is bounded by its tier and by the balance', async () => {
    const { key } = await makeKey({ tier: 'basic' });
    expect((await send('GET', '/api/svc/oracle/premium', bearer(key))).body).toMatchObject({ status: 403, code: 'TIER_REQUIRED' });
    expect(await makeKey({ tier: 'premium' }, 'basic')).toMatchObject({
      status: 403,
      code: 'TIER_REQUIRED',
      requiredTier: 'premium',
    });
  });

  it('of a wallet whose tokens have left is rejected as insufficient', async () => {
    const { key } = await makeKey();
    await service.database.db.collection('api_keys').updateMany({}, { $set: { 'gate.tier': 'public' } });
    const { body, headers } = await send('GET', GATED, bearer(key));
    expect(body).toMatchObject({ status: 403, code: 'TIER_REQUIRED' });
    expect(headers.get('www-authenticate')).toBe('Bearer realm="oracle", error="insufficient_scope"');
  });

  it.each([
    [
      'expired',
      async () => {
        const { key, id } = await makeKey({ expiresInDays: 1 });
        await service.database.db.collection<{ _id: string }>('api_keys').updateOne({ _id: id }, { $set: { expiresAt: new Date(0) } });
        return key;
      },
    ],
    ['mistyped', async () => (await makeKey()).key.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))],
    ['too long', async () => `bso_${'x'.repeat(4_000)}`],
    ['empty', async () => 'bso_'],
  ])('that is %s is rejected where a tier is required, and served as anonymous where none is', async (_, getKey) => {
    const headers = bearer(await getKey());
    expect((await send('GET', GATED, headers)).body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    const open = await send('GET', '/api/svc/open/signal', headers);
    expect(open.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(open.body.code).not.toBe('UNAUTHENTICATED');
  });

  it('neither lists nor revokes access, registers no webhook and ends no session', async () => {
    const { key, id } = await makeKey({ tier: 'premium' });
    const webhook = { url: 'https://9.9.9.9/hook', events: ['signal.new'] };
    for (const [method, path, body] of [
      ['GET', ACCESS],
      ['DELETE', `${ACCESS}/${id}`],
      ['POST', `${GATED}/register`, webhook],
      ['DELETE', '/api/svc/oracle/session'],
    ] as const) {
      const { body: problem } = await send(method, path, bearer(key), body);
      expect(problem, `${method} ${path}`).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    }
    expect((await send('GET', ACCESS, premium)).body.count).toBe(1);
  });

  it.each([
    [{ label: '' }, 'label'],
    [{ label: ' ' }, 'label'],
    [{ label: 'a\nb' }, 'label'],
    [{ label: 'x'.repeat(61) }, 'label'],
    [{ tier: 'public' }, 'tier'],
    [{ expiresInDays: 0 }, 'expiresInDays'],
    [{ expiresInDays: 1.5 }, 'expiresInDays'],
    [{ expiresInDays: 3_651 }, 'expiresInDays'],
  ])('with %j is rejected, naming the field', async (fields, field) => {
    expect(await makeKey(fields)).toMatchObject({ status: 400, code: 'INPUT_INVALID', field });
  });

  it('opens WebSockets, in a header and by a ticket', async () => {
    const { key } = await makeKey();
    const client = await openClient(`${served.url.replace('http', 'ws')}/ws/signal`, { headers: bearer(key) });
    expect((await client.first('connected')).data).toMatchObject({ tier: 'basic', expiresAt: null });
    const { ticket } = (await send('POST', '/api/svc/ws/ticket', bearer(key))).body;
    const other = await openClient(`${served.url.replace('http', 'ws')}/ws/signal?ticket=${ticket}`);
    expect((await other.first('connected')).data).toMatchObject({ tier: 'basic', expiresAt: null });
    for (const { socket, closed } of [client, other]) {
      socket.close();
      await closed;
    }
  });

  it('is ended by the operator together with the sessions of the wallet', async () => {
    const { key } = await makeKey({}, 'basic');
    await service.http.access.revokeAccess(demoWallets(service).basic.address);
    basic = await asTier(service, 'basic');
    expect((await send('GET', GATED, bearer(key))).status).toBe(401);
  });
});

describe('the keys of a wallet', () => {
  it('are at most twenty, however many are asked for at once', async () => {
    const issued = await Promise.allSettled(Array.from({ length: MAX_API_KEYS_PER_WALLET + 5 }, () => issueKey(service, 'premium')));
    expect(issued.filter(({ status }) => status === 'fulfilled').length).toBe(MAX_API_KEYS_PER_WALLET);
    const { body } = await send('GET', ACCESS, premium);
    expect(body.count).toBe(MAX_API_KEYS_PER_WALLET);
    expect((await makeKey()).code).toBe('CONFLICT');
    await send('DELETE', `${ACCESS}/${body.access[7].id}`, premium);
    expect((await makeKey()).key).toMatch(/^bso_/);
  });

  it('that have expired make room for another one', async () => {
    for (let made = 0; made < MAX_API_KEYS_PER_WALLET; made++) await makeKey({ expiresInDays: 1 });
    await service.database.db.collection('api_keys').updateMany({}, { $set: { expiresAt: new Date(0) } });
    expect((await send('GET', ACCESS, premium)).body.count).toBe(0);
    expect((await makeKey()).key).toMatch(/^bso_/);
  });
});

describe('a text that the service has composed', () => {
  it('lists and ends access of a wallet without gate tokens, once each', async () => {
    const { poor } = demoWallets(service);
    const now = service.http.now();
    const gate = { tier: 'public' as const, balance: '0', blockNumber: 1 };
    const fields = { hash: '0'.repeat(64), wallet: poor.address, slot: 0, label: 'old bot', tier: 'basic', gate, gateReadAt: now };
    await service.database.db
      .collection<{ _id: string }>('api_keys')
      .insertOne({ _id: 'key_old', ...fields, createdAt: now, expiresAt: null, lastUsedAt: null } as never);
    const listed = await send('POST', ACCESS, {}, await accessText('poor'));
    expectDescribed(ACCESS_REPLY, listed.body);
    expect(listed.body.access).toMatchObject([{ id: 'key_old', name: 'old bot' }]);
    const ending = await accessText('poor', 'key_old');
    expect((await send('POST', ACCESS, {}, ending)).body).toMatchObject({ success: true, access: [] });
    expect((await send('POST', ACCESS, {}, ending)).body).toMatchObject({ status: 409, code: 'CONFLICT', field: 'message' });
    expect((await send('POST', ACCESS, {}, await accessText('poor', 'key_old'))).body).toMatchObject({ status: 404 });
  });

  it('names key, tier and end, the operation and the wallet', async () => {
    const { address } = demoWallets(service).premium;
    const key = { wallet: address, label: 'Größe "7"', tier: 'premium', expiresInDays: 7 };
    const { message } = (await send('POST', `${KEYS}/message`, {}, key)).body;
    expect(message).toContain(`wants you to sign in with your Ethereum account:\n${address}\n`);
    expect(message).toContain("Make an API key named 'Gr??e ?7?' with the tier, up to Premium, of this wallet, valid for 7 days.");
    expect(message).toContain(`URI: http://127.0.0.1:3000${KEYS}\n`);
  });

  it('makes one key, whatever is sent at once, and none where the balance does not give the tier', async () => {
    expect(await makeKey({ tier: 'premium' }, 'poor')).toMatchObject({ status: 403, code: 'TIER_REQUIRED' });
    const { address } = demoWallets(service).premium;
    const { body } = await send('POST', `${KEYS}/message`, {}, { wallet: address, label: 'a bot', tier: 'basic' });
    const signed = await signText('premium', body.message);
    const replies = await Promise.all(Array.from({ length: 4 }, () => send('POST', KEYS, {}, signed)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('is usable after an act that failed', async () => {
    const { address } = demoWallets(service).basic;
    for (let made = 0; made < MAX_API_KEYS_PER_WALLET; made++) await issueKey(service, 'basic');
    const { body } = await send('POST', `${KEYS}/message`, {}, { wallet: address, label: 'a bot', tier: 'basic' });
    const signed = await signText('basic', body.message);
    expect((await send('POST', KEYS, {}, signed)).body.code).toBe('CONFLICT');
    await service.database.db.collection('api_keys').deleteMany({});
    expect((await send('POST', KEYS, {}, signed)).status).toBe(201);
  });

  it('is required without a login, and the error says how to get it', async () => {
    const { body } = await send('GET', ACCESS, {});
    expect(body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', field: 'Authorization' });
    expect(body.suggestedAction).toContain('/api/svc/oracle/access/message');
  });

  it('is asked of a session too: a login alone makes no key', async () => {
    expect((await send('POST', KEYS, premium, { label: 'a bot', tier: 'basic' })).body).toMatchObject({
      status: 400,
      code: 'INPUT_INVALID',
    });
  });
});
