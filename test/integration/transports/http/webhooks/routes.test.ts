import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { EVENT_NAMES } from '../../../../../src/events/events.ts';
import { REGISTERED_REPLY, WEBHOOK_DELETED_REPLY, WEBHOOKS_REPLY } from '../../../../../src/http/routes/webhooks.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
let headers: Record<'basic' | 'premium' | 'nobody', Record<string, string>>;

beforeAll(async () => {
  service = await testService(0, { PUSH_LOCAL_TARGETS: 'allow' });
  served = await serve(service);
  headers = { basic: await asTier(service, 'basic'), premium: await asTier(service, 'premium'), nobody: {} };
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const LIST = '/api/svc/webhooks';
const REGISTER = '/api/svc/webhooks/register';
const wanted = { url: 'http://127.0.0.1:9000/hook', events: ['signal.new', 'wager.placed'] };

async function send(method: string, path: string, who: keyof typeof headers, body?: unknown) {
  const response = await fetch(`${served.url}${path}`, {
    method,
    headers: { ...headers[who], ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return { status: response.status, cacheControl: response.headers.get('cache-control'), body: (await response.json()) as any };
}

function expectDescribed(schema: z.ZodType, body: unknown) {
  expect(undocumented(schema, body)).toEqual([]);
}

describe('webhooks', () => {
  it('are registered, listed and deleted by their owner, which sees the secret once', async () => {
    const { status, cacheControl, body: made } = await send('POST', REGISTER, 'basic', { ...wanted, horizons: ['7d', '2d'] });
    expect([status, cacheControl]).toEqual([201, 'private, no-store']);
    expectDescribed(REGISTERED_REPLY, made);
    expect(made).toMatchObject({ success: true, ...wanted, horizons: ['2d', '7d'], status: 'active', disabledAt: null });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

    const { body: mine } = await send('GET', LIST, 'basic');
    expectDescribed(WEBHOOKS_REPLY, mine);
    const { secret, verificationKey, success: _, ...shown } = made;
    expect(verificationKey).toBe(secret);
    expect(mine).toEqual({ success: true, webhooks: [shown], count: 1, limit: 10 });
    expect(JSON.stringify(mine)).not.toContain(secret.slice(6));

    expect((await send('GET', LIST, 'premium')).body).toMatchObject({ webhooks: [], count: 0 });
    const foreign = await send('DELETE', `${LIST}/${made.id}`, 'premium');
    const unknown = await send('DELETE', `${LIST}/00000000-0000-4000-8000-000000000000`, 'premium');
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });

    const deleted = await send('DELETE', `${LIST}/${made.id.toUpperCase()}`, 'basic');
    expect(deleted).toMatchObject({ status: 200, body: { success: true, id: made.id } });
    expectDescribed(WEBHOOK_DELETED_REPLY, deleted.body);
    expect((await send('GET', LIST, 'basic')).body.webhooks).toEqual([]);
  });

  it('accept a secret of the caller, all events, and 7 days by default', async () => {
    const secret = 'a shared secret, long enough';
    const { body: made } = await send('POST', REGISTER, 'premium', { url: wanted.url, events: [...EVENT_NAMES], secret });
    expect(made).toMatchObject({ secret, events: [...EVENT_NAMES], horizons: ['7d'] });
    const again = await send('POST', REGISTER, 'premium', { url: wanted.url, events: [...EVENT_NAMES].reverse() });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'url', id: made.id } });
    await send('DELETE', `${LIST}/${made.id}`, 'premium');
  });

  it.each([
    [{ horizons: 'all' }, null],
    [{ horizons: ['7', 2, '1d'] }, ['1d', '2d', '7d']],
    [{ horizon: '2d' }, ['2d']],
    [{ horizon: 7 }, ['7d']],
  ])('register for the horizons in %j, which a change keeps unless it names others', async (choice, horizons) => {
    const { status, body: made } = await send('POST', REGISTER, 'premium', { ...wanted, ...choice });
    expect([status, made.horizons]).toEqual([201, horizons]);
    const path = `${LIST}/${made.id}`;
    const kept = await send('PATCH', path, 'premium', { events: ['signal.new'] });
    expect(kept.body).toMatchObject({ events: ['signal.new'], horizons });
    for (const [change, expected] of [
      [{ horizon: '3' }, ['3d']],
      [{ horizons: 'all' }, null],
      [{ horizons: ['7'] }, ['7d']],
      [{ horizons: null }, null],
    ] as const) {
      expect((await send('PATCH', path, 'premium', change)).body.horizons).toEqual(expected);
    }
    await send('DELETE', path, 'premium');
  });

  it.each([
    ['GET', LIST],
    ['POST', REGISTER],
    ['DELETE', `${LIST}/00000000-0000-4000-8000-000000000000`],
  ])('require a token: %s %s', async (method, path) => {
    expect(await send(method, path, 'nobody', method === 'POST' ? wanted : undefined)).toMatchObject({ status: 401 });
  });

  it.each([
    ['url', { ...wanted, url: undefined }],
    ['url', { ...wanted, url: 7 }],
    ['url', { ...wanted, url: '' }],
    ['url', { ...wanted, url: 'http://hooks.example.com/' }],
    ['url', { ...wanted, url: 'https://10.0.0.1/' }],
    ['url', { ...wanted, url: 'https://[fd00::1]/' }],
    ['url', { ...wanted, url: `https://8.8.8.8/${'a'.repeat(3_000)}` }],
    ['events', { ...wanted, events: undefined }],
    ['events', { ...wanted, events: [] }],
    ['events', { ...wanted, events: 'signal.new' }],
    ['events', { ...wanted, events: ['signal.new', 'signal.new'] }],
    ['events.1', { ...wanted, events: ['signal.new', 'signal.old'] }],
    ['horizons', { ...wanted, horizons: [] }],
    ['horizons', { ...wanted, horizons: ['5d'] }],
    ['horizons', { ...wanted, horizons: ['7d', 7] }],
    ['horizons', { ...wanted, horizons: 'some' }],
    ['horizons', { ...wanted, horizons: null }],
    ['horizon', { ...wanted, horizon: '5d' }],
    ['horizon', { ...wanted, horizon: '7d', horizons: ['2d'] }],
    ['secret', { ...wanted, secret: 'short' }],
    ['secret', { ...wanted, secret: 'x'.repeat(257) }],
    ['secret', { ...wanted, secret: null }],
    ['active', { ...wanted, active: true }],
  ])('return an error that names %s', async (field, body) => {
    const { status, body: problem } = await send('POST', REGISTER, 'basic', body);
    expect([status, problem.code, problem.field]).toEqual([400, 'INPUT_INVALID', field]);
    expect(JSON.stringify(problem)).not.toMatch(/x{50}|a{50}/);
    expect((await send('GET', LIST, 'basic')).body.count).toBe(0);
  });

  it('accept a secret of 16 bytes, and reject a shorter one with the rule', async () => {
    const { status, body: problem } = await send('POST', REGISTER, 'basic', { ...wanted, secret: 'x'.repeat(15) });
    expect([status, problem.field]).toEqual([400, 'secret']);
    expect(problem.suggestedAction).toContain(problem.suggestion);
    for (const secret of ['x'.repeat(16), problem.suggestion]) {
      const { body: made } = await send('POST', REGISTER, 'basic', { ...wanted, secret });
      expect(made.secret).toBe(secret);
      await send('DELETE', `${LIST}/${made.id}`, 'basic');
    }
  });

  it('are deleted by their id only', async () => {
    expect(await send('DELETE', `${LIST}/1`, 'basic')).toMatchObject({ status: 400, body: { field: 'id' } });
    expect(await send('DELETE', LIST, 'basic')).toMatchObject({ status: 405 });
  });

  it('are limited to ten per wallet, with a suggested action', async () => {
    const one = (i: number) => send('POST', REGISTER, 'basic', { ...wanted, url: `https://8.8.8.8/${i}` });
    const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => one(i)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), ...Array(4).fill(409)]);
    const full = answers.find(({ status }) => status === 409);
    expect(full?.body).toMatchObject({ code: 'CONFLICT', limit: 10, suggestedAction: expect.stringContaining('Delete one') });
    const { body } = await send('GET', LIST, 'basic');
    expect(new Set(body.webhooks.map(({ id }: { id: string }) => id)).size).toBe(10);
  });
});
