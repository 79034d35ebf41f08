import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EVENT_INDEXES } from '../../../../../src/events/log.ts';
import { DeliveryQueue, WEBHOOK_INDEXES } from '../../../../../src/events/webhooks/queue.ts';
import { MAX_TESTS_PER_DAY } from '../../../../../src/events/webhooks/registry.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import type { ResolveHostname } from '../../../../../src/platform/outbound/guarded.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { fullSemaphore } from '../../../../support/network/full-queue.ts';
import { newWallet, testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

const UNKNOWN_ID = '6f1c1f0e-3f0b-4d3c-9a52-0d9c3a7e4b11';
const PUBLIC = ['93.184.215.14'];

let database: TestDatabase;
let clock = new Date('2026-03-10T12:00:00Z');
const now = () => clock;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES, ...EVENT_INDEXES]);
});
afterAll(() => database.drop());

const registryWith = (resolve: ResolveHostname) => testRegistry(database.db, { now, resolve });
const wanted = (url = 'https://hooks.example.com/') => ({ url, events: ['signal.new'] }) as const;
const register = async (wallet: Address) => (await registryWith(async () => PUBLIC).register(wallet, wanted()))._id;

/** A name server whose every turn is taken. */
const full: ResolveHostname = () => fullSemaphore().run(async () => PUBLIC);
const later = { code: 'RATE_LIMITED', retryAfterSeconds: 5, message: 'Too many host names are being looked up' };

describe('a full name lookup', () => {
  it('rejects registration and change with RATE_LIMITED', async () => {
    const wallet = newWallet();
    await expect(registryWith(full).register(wallet, wanted())).rejects.toMatchObject(later);
    expect(await registryWith(full).list(wallet)).toEqual([]);
    const id = await register(wallet);
    await expect(registryWith(full).change(wallet, id, { url: 'https://other.example.com/' })).rejects.toMatchObject(later);
    expect(await registryWith(full).get(wallet, id)).toMatchObject({ url: 'https://hooks.example.com/' });
    expect(await registryWith(full).change(wallet, id, { horizons: [7] })).toMatchObject({ horizons: [7] });
  });

  it('rejects a test without recording a failure', async () => {
    const wallet = newWallet();
    const id = await register(wallet);
    await expect(registryWith(full).test(wallet, id)).rejects.toMatchObject(later);
    expect(await new DeliveryQueue(database.db).list(id, { limit: 9 })).toEqual([]);
  });
});

it('looks up no host for a change of an unknown or foreign webhook, which is NOT_FOUND whatever the URL', async () => {
  const resolve = vi.fn<ResolveHostname>(async () => PUBLIC);
  const theirs = await register(newWallet());
  for (const id of [UNKNOWN_ID, theirs]) {
    for (const url of ['https://10.0.0.1/', 'https://asked.example.com/']) {
      await expect(registryWith(resolve).change(newWallet(), id, { url })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  }
  expect(resolve).not.toHaveBeenCalled();
});

it('looks up two names of a wallet at once, without delaying those of others', async () => {
  const [slow, other] = [newWallet(), newWallet()];
  const held = Promise.withResolvers<readonly string[]>();
  const asked: string[] = [];
  const registry = registryWith((host) => {
    asked.push(host);
    return host.startsWith('slow') ? held.promise : Promise.resolve(PUBLIC);
  });
  const waiting = Array.from({ length: 4 }, (_, n) => registry.register(slow, wanted(`https://slow${n}.example.com/`)));
  await registry.register(other, wanted());
  await expect.poll(() => asked.length).toBe(3);
  held.resolve(PUBLIC);
  await Promise.all(waiting);
  expect(asked.filter((host) => host.startsWith('slow'))).toHaveLength(4);
  expect(await registry.list(slow)).toHaveLength(4);
});

it('limits the tests per wallet and day over all its webhooks', async () => {
  const wallet = newWallet();
  const id = await register(wallet);
  const registry = registryWith(() => Promise.reject(new Error('ENOTFOUND')));
  await registry.test(wallet, id);
  const used = database.db.collection<{ _id: string; used: number }>('webhook_daily_use');
  await used.updateOne({ _id: new RegExp(`^test:${wallet.toLowerCase()}`) as never }, { $set: { used: MAX_TESTS_PER_DAY - 1 } });
  clock = new Date(clock.getTime() + 5_000);
  await registry.test(wallet, id);
  await registry.remove(wallet, id);
  const again = await register(wallet);
  await expect(registry.test(wallet, again)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { limit: MAX_TESTS_PER_DAY, used: MAX_TESTS_PER_DAY },
    suggestedAction: expect.stringContaining('tomorrow'),
  });
});
