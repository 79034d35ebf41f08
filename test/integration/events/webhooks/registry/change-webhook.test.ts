import { Collection } from 'mongodb';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EVENT_INDEXES, EventLog } from '../../../../../src/events/log.ts';
import { openSigningSecrets } from '../../../../../src/events/webhooks/call.ts';
import { endWebhook, WEBHOOK_INDEXES, type WebhookDoc } from '../../../../../src/events/webhooks/queue.ts';
import type { WebhookRegistration } from '../../../../../src/events/webhooks/registry.ts';
import { HOUR_MS } from '../../../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { newWallet, regimeDraft, TEST_BOX, testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

const OWN = 'a secret of the caller, long enough';

let database: TestDatabase;
let clock = new Date('2026-03-10T12:00:00Z');
const now = () => clock;
const later = (ms: number) => {
  clock = new Date(clock.getTime() + ms);
};

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES, ...EVENT_INDEXES]);
});
afterAll(() => database.drop());

const registry = () => testRegistry(database.db, { now });
const webhooks = () => database.db.collection<WebhookDoc>('webhooks');
const stored = async (id: string) => (await webhooks().findOne({ _id: id }))!;
const secretsAt = async (id: string, at: Date) => openSigningSecrets(await stored(id), TEST_BOX, at);

async function registered(change: Partial<WebhookRegistration> = {}): Promise<{ wallet: Address; id: string; secret: string }> {
  const wallet = newWallet();
  const { _id, secret } = await registry().register(wallet, { url: 'https://hooks.example.com/a', events: ['signal.new'], ...change });
  return { wallet, id: _id, secret };
}

async function endedBy(id: string, by: 'receiver' | 'failures') {
  await endWebhook(database.db, await stored(id), { by, reason: 'it was over', at: clock, failingSince: clock });
}

describe('a secret that is changed', () => {
  it('signs from then on, and the one before for 24 hours beside it', async () => {
    const { wallet, id, secret: first } = await registered();
    later(HOUR_MS);
    const { secret, secretSetAt, previousSecretUntil } = await registry().rotateSecret(wallet, id);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret).not.toBe(first);
    expect([secretSetAt, previousSecretUntil]).toEqual([clock, new Date(clock.getTime() + 24 * HOUR_MS)]);
    expect(await secretsAt(id, clock)).toEqual([secret, first]);
    expect(await secretsAt(id, new Date(clock.getTime() + 24 * HOUR_MS - 1))).toEqual([secret, first]);
    expect(await secretsAt(id, new Date(clock.getTime() + 24 * HOUR_MS))).toEqual([secret]);
    expect(await registry().get(wallet, id)).toMatchObject({ secretSetAt: clock, previousSecretUntil });
    later(24 * HOUR_MS);
    expect(await registry().get(wallet, id)).toMatchObject({ previousSecretUntil: null });
  });

  it('once more within that time ends the oldest at once', async () => {
    const { wallet, id, secret: first } = await registered();
    const { secret: second } = await registry().rotateSecret(wallet, id, OWN);
    const { secret: third } = await registry().rotateSecret(wallet, id);
    expect(second).toBe(OWN);
    expect(await secretsAt(id, clock)).toEqual([third, second]);
    expect([third, second]).not.toContain(first);
  });

  it('to what it is already changes nothing: the same request can be sent twice', async () => {
    const { wallet, id, secret: first } = await registered();
    const { secretSetAt, previousSecretUntil } = await registry().rotateSecret(wallet, id, OWN);
    const before = await stored(id);
    later(HOUR_MS);
    expect(await registry().rotateSecret(wallet, id, OWN)).toMatchObject({ secret: OWN, secretSetAt, previousSecretUntil });
    expect(await stored(id)).toEqual(before);
    expect(await secretsAt(id, clock)).toEqual([OWN, first]);
  });

  it('many times at once sets one of the returned secrets, with one of the previous', async () => {
    const { wallet, id, secret: first } = await registered();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => registry().rotateSecret(wallet, id)));
    const returned = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.secret] : []));
    expect(returned.length).toBeGreaterThan(0);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT' });
    const [current, previous, ...more] = await secretsAt(id, clock);
    expect(returned).toContain(current);
    expect([first, ...returned.filter((secret) => secret !== current)]).toContain(previous);
    expect(more).toEqual([]);
  });

  it('is rejected during a concurrent change, so that every returned secret is in effect', async () => {
    const { wallet, id } = await registered();
    let winner = '';
    const write = Collection.prototype.findOneAndUpdate;
    vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockImplementationOnce(async function (this: Collection, ...args: unknown[]) {
      winner = (await registry().rotateSecret(wallet, id)).secret;
      return write.apply(this, args as never);
    } as never);
    await expect(registry().rotateSecret(wallet, id)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await secretsAt(id, clock))[0]).toBe(winner);
  });

  it('that opens no longer gives way to a new one, which signs alone', async () => {
    const { wallet, id, secret: lost } = await registered();
    const sealed = createSecretBox('n'.repeat(32)).seal('webhook-secret', id, lost);
    await webhooks().updateOne({ _id: id }, { $set: { sealedSecret: sealed } });
    expect(() => openSigningSecrets({ _id: id, sealedSecret: sealed, previousSecret: null }, TEST_BOX, clock)).toThrow();
    const { secret, previousSecretUntil } = await registry().rotateSecret(wallet, id, lost);
    expect([secret, previousSecretUntil]).toEqual([lost, null]);
    expect(await secretsAt(id, clock)).toEqual([lost]);
    const { secret: next } = await registry().rotateSecret(wallet, id);
    expect(await secretsAt(id, clock)).toEqual([next, lost]);
  });

  it('is kept sealed, also the one before', async () => {
    const { wallet, id, secret: first } = await registered({ secret: OWN });
    const { secret } = await registry().rotateSecret(wallet, id);
    const raw = JSON.stringify(await stored(id));
    const key = Buffer.from(secret.slice(6), 'base64');
    for (const clear of [first, secret.slice(6), key.toString('hex'), key.toString('base64url')]) expect(raw).not.toContain(clear);
  });

  it.each([
    ['too short', 'short'],
    ['with a line break', `${OWN}\n`],
    ['in no base64', `whsec_${'!'.repeat(40)}`],
  ])('rejects an unusable secret without repeating it: %s', async (_, secret) => {
    const { wallet, id } = await registered();
    const before = await stored(id);
    const refused = await registry()
      .rotateSecret(wallet, id, secret)
      .catch((error: Error) => error as Error & { code: string; field: string });
    expect(refused).toMatchObject({ code: 'INPUT_INVALID', field: 'secret' });
    expect(JSON.stringify({ ...(refused as object), message: (refused as Error).message })).not.toContain(secret);
    expect(await stored(id)).toEqual(before);
  });
});

describe('a change', () => {
  it('is of what it names, and leaves secret, state and progress alone', async () => {
    const { wallet, id } = await registered({ horizons: [7] });
    const { fingerprint: _, ...before } = await stored(id);
    const changed = await registry().change(wallet, id, { events: ['wager.placed', 'signal.new'], horizons: null });
    expect(changed).toMatchObject({ _id: id, events: ['signal.new', 'wager.placed'], horizons: null, url: 'https://hooks.example.com/a' });
    await registry().change(wallet, id, { horizons: [7, 2] });
    await registry().change(wallet, id, { url: 'HTTPS://hooks.example.com:443/b' });
    const { fingerprint: _changed, urlSetAt, sealedUrl, targetKey, ...after } = await stored(id);
    expect(urlSetAt).toBeInstanceOf(Date);
    const { sealedUrl: sealedBefore, targetKey: keyBefore, ...same } = before;
    expect([sealedUrl === sealedBefore, targetKey === keyBefore]).toEqual([false, false]);
    expect(after).toEqual({ ...same, events: ['signal.new', 'wager.placed'], horizons: [2, 7] });
    const twin = { url: 'https://hooks.example.com/b', events: ['signal.new', 'wager.placed'], horizons: [2, 7] } as const;
    await expect(registry().register(wallet, twin)).rejects.toMatchObject({ code: 'CONFLICT', details: { id } });
    expect((await registry().get(wallet, id)).url).toBe('https://hooks.example.com/b');
  });

  it('of nothing is none', async () => {
    const { wallet, id } = await registered();
    const before = await stored(id);
    await registry().change(wallet, id, {});
    await registry().change(wallet, id, { events: ['signal.new'], url: 'https://hooks.example.com/a' });
    expect(await stored(id)).toEqual(before);
  });

  it('to just what another one of the wallet is, is rejected; of another wallet it is not', async () => {
    const { wallet, id } = await registered();
    const other = await registry().register(wallet, { url: 'https://hooks.example.com/b', events: ['signal.new'] });
    const taken = registry().change(wallet, other._id, { url: 'https://hooks.example.com/a' });
    await expect(taken).rejects.toMatchObject({ code: 'CONFLICT', field: 'url', details: { id } });
    expect(await registry().get(wallet, other._id)).toMatchObject({ url: 'https://hooks.example.com/b' });
    const { wallet: elsewhere, id: theirs } = await registered({ url: 'https://hooks.example.com/b' });
    await registry().change(elsewhere, theirs, { url: 'https://hooks.example.com/a' });
  });

  it('of different things at once is made of all of them', async () => {
    const { wallet, id } = await registered();
    await Promise.all([
      registry().change(wallet, id, { url: 'https://hooks.example.com/c' }),
      registry().change(wallet, id, { events: ['wager.settled'] }),
      registry().change(wallet, id, { horizons: [1] }),
    ]);
    const doc = await stored(id);
    expect(doc).toMatchObject({ events: ['wager.settled'], horizons: [1] });
    expect((await registry().get(wallet, id)).url).toBe('https://hooks.example.com/c');
    const twin = { url: 'https://hooks.example.com/c', events: ['wager.settled'], horizons: [1] } as const;
    await expect(registry().register(wallet, twin)).rejects.toMatchObject({ code: 'CONFLICT', details: { id } });
  });

  it('of the URL goes where one may go, and forgets how the old one failed', async () => {
    const { wallet, id } = await registered();
    await webhooks().updateOne({ _id: id }, { $set: { failingSince: clock } });
    await registry().change(wallet, id, { horizons: [2] });
    expect(await stored(id)).toMatchObject({ failingSince: clock });
    const inside = testRegistry(database.db, { now, resolve: async () => ['10.0.0.7'] });
    for (const url of ['http://hooks.example.com/', 'https://127.0.0.1/', 'https://rebind.example.com/']) {
      await expect(inside.change(wallet, id, { url })).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'url' });
    }
    await registry().change(wallet, id, { url: 'https://hooks.example.com/d' });
    expect(await registry().get(wallet, id)).toMatchObject({ failingSince: null, url: 'https://hooks.example.com/d' });
  });
});

describe('a webhook that has ended', () => {
  it.each(['receiver', 'failures'] as const)('by %s is enabled by its owner, and goes on with what happens then', async (by) => {
    const { wallet, id } = await registered();
    await endedBy(id, by);
    const log = new EventLog(database.db);
    await log.append([regimeDraft(`missed by ${by}`, clock)], clock);
    expect(await registry().get(wallet, id)).toMatchObject({ status: 'disabled', disabledBy: by, disabledAt: clock });
    const enabled = await registry().enable(wallet, id);
    const nothing = { disabledAt: null, disabledReason: null, disabledBy: null, failingSince: null };
    expect(enabled).toMatchObject({ status: 'active', ...nothing });
    expect(await stored(id)).toMatchObject({ status: 'active', ...nothing, queuedThrough: await log.lastId() });
  });

  it('by the operator is not, and says why; also after failures had ended it', async () => {
    const { wallet, id } = await registered();
    await endedBy(id, 'failures');
    expect(await registry().disable(id, 'its host complained')).toMatchObject({ disabledBy: 'operator' });
    const refused = registry().enable(wallet, id);
    await expect(refused).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('its host complained') });
    await expect(registry().replay(wallet, id, { sinceId: 0 })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await stored(id)).toMatchObject({ status: 'disabled', disabledBy: 'operator' });
  });

  it('by the operator gets nothing of what waits for it', async () => {
    const { wallet, id } = await registered({ events: ['regime.changed'] });
    await new EventLog(database.db).append([regimeDraft('waits', clock)], clock);
    await registry().replay(wallet, id, { eventId: await new EventLog(database.db).lastId() });
    await registry().disable(id, 'its host complained');
    expect(await registry().listDeliveries(wallet, id, { limit: 9 })).toMatchObject([
      { state: 'CANCELLED', nextAttemptAt: null, attempts: [] },
    ]);
  });

  it('by the operator stays disabled without disabledBy', async () => {
    const { wallet, id } = await registered();
    await webhooks().updateOne({ _id: id }, { $set: { status: 'disabled', disabledReason: 'long ago' }, $unset: { disabledBy: '' } });
    await expect(registry().enable(wallet, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is not changed by being enabled again when it is active', async () => {
    const { wallet, id } = await registered();
    await webhooks().updateOne({ _id: id }, { $set: { failingSince: clock } });
    const before = await stored(id);
    expect(await registry().enable(wallet, id)).toMatchObject({ status: 'active', failingSince: clock });
    expect(await stored(id)).toEqual(before);
  });

  it('while it is being enabled is wholly one or the other', async () => {
    const { wallet, id } = await registered();
    for (let round = 0; round < 20; round++) {
      const ends = [endedBy(id, 'failures'), registry().enable(wallet, id), endedBy(id, 'receiver'), registry().enable(wallet, id)];
      await Promise.all(ends);
      const { status, disabledAt, disabledReason, disabledBy } = await stored(id);
      const ended = [disabledAt, disabledReason, disabledBy].filter((field) => field !== null).length;
      expect([status, ended]).toEqual(status === 'active' ? ['active', 0] : ['disabled', 3]);
    }
  });
});

describe('another wallet', () => {
  it('finds nothing for any request, and changes nothing', async () => {
    const { id } = await registered();
    const before = await stored(id);
    const [stranger, nobodys] = [newWallet(), '00000000-0000-4000-8000-000000000000'];
    for (const of of [id, nobodys]) {
      for (const ask of [
        () => registry().get(stranger, of),
        () => registry().change(stranger, of, { horizons: [1] }),
        () => registry().rotateSecret(stranger, of),
        () => registry().enable(stranger, of),
        () => registry().test(stranger, of),
        () => registry().replay(stranger, of, { sinceId: 0 }),
        () => registry().listDeliveries(stranger, of, { limit: 1 }),
        () => registry().remove(stranger, of),
      ]) {
        await expect(ask()).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'id', message: 'There is no such webhook of yours' });
      }
    }
    expect(await stored(id)).toEqual(before);
  });
});
