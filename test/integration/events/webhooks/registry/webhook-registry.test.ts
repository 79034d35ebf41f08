import { Collection } from 'mongodb';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WEBHOOK_INDEXES, type WebhookDoc } from '../../../../../src/events/webhooks/queue.ts';
import { MAX_WEBHOOKS_PER_WALLET, type WebhookRegistration, type WebhookRegistry } from '../../../../../src/events/webhooks/registry.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import type { ResolveHostname } from '../../../../../src/platform/outbound/guarded.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { newWallet, TEST_BOX, testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

let database: TestDatabase;
let clock = new Date('2026-03-10T00:00:00Z');
const box = TEST_BOX;
const now = () => clock;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES]);
});
afterAll(() => database.drop());

function registryWith(resolve?: ResolveHostname): WebhookRegistry {
  return testRegistry(database.db, { now, resolve });
}

const registry = () => registryWith();
const stored = (id: string) => database.db.collection<WebhookDoc>('webhooks').findOne({ _id: id });

const wanted = (change: Partial<WebhookRegistration> = {}): WebhookRegistration => ({
  url: 'https://hooks.example.com/a',
  events: ['signal.new'],
  ...change,
});

describe('a registration', () => {
  it('has its events in one order, its horizons ascending, and its wallet in lower case', async () => {
    const wallet = newWallet();
    const change = { events: ['regime.changed', 'signal.new'], horizons: [7, 2] } as const;
    const { _id, secret, verificationKey, ...webhook } = await registry().register(wallet, wanted(change));
    expect(verificationKey).toBe(secret);
    expect(secret).toMatch(/^whsec_/);
    expect(webhook).toEqual({
      ...wanted(),
      format: 'json',
      chatId: null,
      events: ['signal.new', 'regime.changed'],
      horizons: [2, 7],
      moveSize: null,
      secretSetAt: clock,
      createdAt: clock,
      status: 'active',
      disabledAt: null,
      disabledReason: null,
      disabledBy: null,
      failingSince: null,
      previousSecretUntil: null,
      suspendedAt: null,
    });
    expect(await stored(_id)).toMatchObject({ wallet: wallet.toLowerCase() });
    expect(await registry().list(wallet.toLowerCase() as Address)).toHaveLength(1);
  });

  it.each(['a secret of the caller, long enough', `whsec_${Buffer.alloc(32, 7).toString('base64')}`, undefined])(
    'keeps its secret sealed: %s',
    async (given) => {
      const { _id, secret } = await registry().register(newWallet(), wanted({ secret: given }));
      if (given !== undefined) expect(secret).toBe(given);
      const raw = JSON.stringify(await stored(_id));
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      for (const clear of [secret, secret.replace('whsec_', ''), key.toString('base64url'), key.toString('hex')])
        expect(raw).not.toContain(clear);
      const { sealedSecret } = (await stored(_id))!;
      expect(box.open('webhook-secret', _id, sealedSecret)).toBe(secret);
      expect(() => box.open('webhook-secret', 'another', sealedSecret)).toThrow();
      expect(JSON.stringify(await registry().list((await stored(_id))!.wallet as Address))).not.toContain(sealedSecret);
    },
  );

  it.each([
    'https://discord.com/api/webhooks/1234567890/the-token-of-the-channel/github',
    'https://discord.com/api/v10//webhooks/1234567890/the-token-of-the-channel?wait=true',
    'https://hooks.example.com/in/the-token-of-the-channel?key=the-token-of-the-channel',
  ])('keeps whatever its URL names sealed, and shows it to its owner alone: %s', async (url) => {
    const wallet = newWallet();
    const { _id } = await registry().register(wallet, wanted({ url }));
    expect(JSON.stringify(await stored(_id))).not.toContain('the-token-of-the-channel');
    expect((await registry().get(wallet, _id)).url).toBe(new URL(url).href);
    expect(JSON.stringify(await registry().disable(_id, 'no reason'))).not.toContain('the-token-of-the-channel');
  });

  it('is rejected for the same again, in any spelling, and not for other events, horizons, sizes, URLs or wallets', async () => {
    const wallet = newWallet();
    const { _id } = await registry().register(wallet, wanted({ events: ['signal.new', 'wager.placed'] }));
    const again = wanted({ url: 'HTTPS://HOOKS.example.com:443/a', events: ['wager.placed', 'signal.new'] });
    await expect(registry().register(wallet, again)).rejects.toMatchObject({ code: 'CONFLICT', field: 'url', details: { id: _id } });
    for (const other of [
      { events: ['signal.new'] },
      { horizons: [2] },
      { horizons: [7], moveSize: ['WILD'] },
      { url: 'https://hooks.example.com/b' },
    ] as const) {
      await registry().register(wallet, wanted({ events: ['signal.new', 'wager.placed'], ...other }));
    }
    await registry().register(newWallet(), again);
    expect(await registry().list(wallet)).toHaveLength(5);
  });

  it('with a filter of the move is of 1 day by default, and keeps it until it is removed', async () => {
    const wallet = newWallet();
    const { _id, horizons, moveSize } = await registry().register(wallet, wanted({ moveSize: ['WILD', 'CALM'] }));
    expect({ horizons, moveSize }).toEqual({ horizons: [1], moveSize: ['CALM', 'WILD'] });
    expect(await registry().change(wallet, _id, { events: ['wager.placed'] })).toMatchObject({ horizons: [1], moveSize: ['CALM', 'WILD'] });
    expect(await registry().change(wallet, _id, { moveSize: ['WILD'] })).toMatchObject({ moveSize: ['WILD'] });
    expect(await registry().change(wallet, _id, { moveSize: null })).toMatchObject({ horizons: [1], moveSize: null });
  });

  it('of the same thing many times at once is made once', async () => {
    const wallet = newWallet();
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => registry().register(wallet, wanted())));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts) if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'CONFLICT' });
    expect(await registry().list(wallet)).toHaveLength(1);
  });

  it('is not taken beyond the limit, however many come at once; what is deleted makes room', async () => {
    const [wallet, other] = [newWallet(), newWallet()];
    const register = (i: number) => registry().register(wallet, wanted({ url: `https://hooks.example.com/${i}` }));
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => register(i)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_WEBHOOKS_PER_WALLET);
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'CONFLICT', details: { limit: 10 } });
    expect(await registry().list(wallet)).toHaveLength(MAX_WEBHOOKS_PER_WALLET);
    await registry().register(other, wanted());

    const [first] = await registry().list(wallet);
    await registry().remove(wallet, first!._id);
    const more = await Promise.allSettled([register(21), register(22), register(23)]);
    expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await registry().list(wallet)).toHaveLength(MAX_WEBHOOKS_PER_WALLET);
  });

  it('is rejected beyond the total of all wallets, however many come at once, and before a host is looked up', async () => {
    const most = (await database.db.collection('webhooks').countDocuments()) + 3;
    const asked: string[] = [];
    const resolve: ResolveHostname = async (host) => {
      asked.push(host);
      return ['93.184.215.14'];
    };
    const full = { code: 'RATE_LIMITED', retryAfterSeconds: 3_600, details: { policy: 'webhooks', scope: 'all' } };
    const capped = registryWith(resolve);
    const count = Collection.prototype.estimatedDocumentCount;
    const counted = vi.spyOn(Collection.prototype, 'estimatedDocumentCount').mockImplementation(async function (this: Collection) {
      return (await count.call(this)) + 10_000 - most;
    });
    onTestFinished(() => counted.mockRestore());
    const attempts = await Promise.allSettled(Array.from({ length: 12 }, () => capped.register(newWallet(), wanted())));
    for (const attempt of attempts) if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject(full);
    expect(await database.db.collection('webhooks').countDocuments()).toBeLessThanOrEqual(most);
    for (let left = 3; left > 0; left--) await capped.register(newWallet(), wanted()).catch(() => undefined);
    expect(await database.db.collection('webhooks').countDocuments()).toBe(most);
    asked.length = 0;
    await expect(capped.register(newWallet(), wanted())).rejects.toMatchObject(full);
    expect(asked).toEqual([]);
  });

  it('of a wallet at its limit causes no name lookup', async () => {
    const wallet = newWallet();
    for (let i = 0; i < MAX_WEBHOOKS_PER_WALLET; i++) await registry().register(wallet, wanted({ url: `https://hooks.example.com/${i}` }));
    const asked: string[] = [];
    const watching = registryWith(async (host) => {
      asked.push(host);
      return ['93.184.215.14'];
    });
    await expect(watching.register(wallet, wanted())).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(asked).toEqual([]);
  });

  it('is accepted while its name does not resolve, or cannot be looked up', async () => {
    const wallet = newWallet();
    const unconnected = registryWith(() => Promise.reject(new Error('EAI_AGAIN')));
    const { _id } = await unconnected.register(wallet, wanted());
    expect(await registry().list(wallet)).toMatchObject([{ _id, ...wanted(), status: 'active' }]);
    const local = wanted({ url: 'https://printer.local/' });
    await expect(unconnected.register(wallet, local)).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'url' });
  });

  it.each([
    ['url', { url: 'https://rebind.example.com/' }],
    ['secret', { secret: 'too short' }],
  ])('with a wrong %s leaves nothing behind', async (field, change) => {
    const wallet = newWallet();
    const mixed = registryWith(async () => ['93.184.215.14', '127.0.0.1']);
    await expect(mixed.register(wallet, wanted(change))).rejects.toMatchObject({ code: 'INPUT_INVALID', field });
    expect(await registry().list(wallet)).toEqual([]);
  });
});

describe('a registered webhook', () => {
  it('is removed by its own wallet only; for others it is not there', async () => {
    const [owner, other] = [newWallet(), newWallet()];
    const { _id } = await registry().register(owner, wanted());
    const missing = { code: 'NOT_FOUND', message: 'There is no such webhook of yours' };
    await expect(registry().remove(other, _id)).rejects.toMatchObject(missing);
    await expect(registry().remove(owner, '00000000-0000-4000-8000-000000000000')).rejects.toMatchObject(missing);
    await registry().remove(owner, _id);
    await expect(registry().remove(owner, _id)).rejects.toMatchObject(missing);
    expect(await registry().list(owner)).toEqual([]);
  });

  it('is listed after older ones', async () => {
    const wallet = newWallet();
    for (const name of ['c', 'a', 'b']) {
      clock = new Date(clock.getTime() + 1_000);
      await registry().register(wallet, wanted({ url: `https://hooks.example.com/${name}` }));
    }
    expect((await registry().list(wallet)).map(({ url }) => url.slice(-1))).toEqual(['c', 'a', 'b']);
  });

  it('can be disabled by the operator, once: the first reason stands', async () => {
    const wallet = newWallet();
    const { _id } = await registry().register(wallet, wanted());
    const reason = 'the owner of the host complained';
    expect(await registry().disable(_id, reason)).toMatchObject({ _id, status: 'disabled', disabledReason: reason, disabledAt: clock });
    expect(await registry().disable(_id, 'x'.repeat(1_000))).toMatchObject({ disabledReason: reason });
    expect(await registry().list(wallet)).toMatchObject([{ _id, status: 'disabled' }]);
    await expect(registry().disable('00000000-0000-4000-8000-000000000000', reason)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
