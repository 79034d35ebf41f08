import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { expect, vi } from 'vitest';
import { composeWebhooks } from '../../../src/app/events.ts';
import { ALL_INDEXES } from '../../../src/app/indexes.ts';
import { EVENT_NAMES } from '../../../src/events/events.ts';
import { EventLog } from '../../../src/events/log.ts';
import type { WebhookDeliveryDoc } from '../../../src/events/webhooks/queue.ts';
import { toDay } from '../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { openSession, walletOf } from '../auth/sessions.ts';
import type { TestDatabase } from '../database/database.ts';
import { changesOf, type RecordChange } from './push-changes.ts';
import { type Follower, follow } from './push-follower.ts';
import { killAtRandom, type Member, member } from './push-members.ts';
import type { PushRole } from './push-process.ts';
import { type ReceiverManners, type WebhookCall, type WebhookReceiver, webhookReceiver } from './push-receivers.ts';
import { accessOf, booksOf, now, PUSH_WORLD } from './push-world.ts';

export interface PushRun {
  /** Each makes about 17 events. */
  days: number;
  kills: number;
  /** Longest time between the beginning of a share of the work and a kill. */
  mostMs: number;
  seed: number;
  /** How receivers behave, one webhook each. */
  manners: readonly ReceiverManners[];
  /** How long everything may take to arrive, once nothing is killed any more. */
  settleMs: number;
}

/** What came of a run. */
export interface PushOutcome {
  keys: string[];
  killed: PushRole[];
  followers: readonly Follower[];
  receivers: readonly WebhookReceiver[];
}

const FOLLOWERS = 4;
const WALLETS_EACH = 4;

/** Changes of recent days: older ones are history. */
export function recentChanges(db: Db, days: number): RecordChange[] {
  return changesOf(booksOf(db), { from: toDay(Date.now()) - days - 8, days });
}

/** Two processes with the WebSocket and two workers, killed while a record changes; subscribers of both channels note what comes. */
export async function runKilled({ db, uri }: TestDatabase, run: PushRun): Promise<PushOutcome> {
  await ensureIndexes(db, ALL_INDEXES);
  const receivers = await registered(db, run.manners);
  const members = (['api', 'api', 'worker', 'worker'] as const).map((role) => member(role, uri));
  const followers: Follower[] = [];
  try {
    // One that makes the key of tokens, before others look for it.
    await accessOf(db).keys.getSigningKey();
    await Promise.all(members.map((one) => one.start()));
    followers.push(...(await subscribed(db, members)));
    const changes = recentChanges(db, run.days);
    const killed = await killAtRandom({ members, work: changes.map(({ make }) => make), ...run });
    const keys = changes.flatMap((change) => change.keys);
    await arrived({ db, followers, receivers, last: keys.length, timeout: run.settleMs });
    return { keys, killed, followers, receivers };
  } finally {
    await Promise.all([...followers.map((one) => one.stop()), ...members.map((one) => one.kill())]);
    await Promise.all(receivers.map((one) => one.close()));
  }
}

/** Receivers, each with a webhook of its own wallet for everything. */
export async function registered(db: Db, manners: readonly ReceiverManners[]): Promise<WebhookReceiver[]> {
  const { encryptionSecret } = PUSH_WORLD;
  const webhooks = composeWebhooks({
    db,
    events: new EventLog(db),
    encryptionSecret,
    allowLocal: true,
    publicUrl: 'http://127.0.0.1:3000',
    now,
  });
  return Promise.all(
    manners.map(async (own, index) => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const receiver = await webhookReceiver(secret, own);
      await webhooks.register(walletOf(1_000 + index), { url: receiver.url, events: EVENT_NAMES, horizons: null, secret });
      return receiver;
    }),
  );
}

async function subscribed(db: Db, members: readonly Member[]): Promise<Follower[]> {
  const opener = { db, keys: accessOf(db).keys, issuer: PUSH_WORLD.issuer, now };
  const tokensOf = (follower: number) =>
    Promise.all(Array.from({ length: WALLETS_EACH }, (_, index) => openSession(opener, walletOf(follower * WALLETS_EACH + index))));
  const urls = () => members.flatMap((one) => one.url() ?? []);
  return Promise.all(Array.from({ length: FOLLOWERS }, async (_, index) => follow({ urls, tokens: await tokensOf(index), turn: index })));
}

interface Awaited {
  db: Db;
  followers: readonly Follower[];
  receivers: readonly WebhookReceiver[];
  /** Id of the last event. */
  last: number;
  timeout: number;
}

/** Resolves once everybody has the last event, and their senders know it. @throws with what is missing after the time */
export async function arrived({ db, followers, receivers, last, timeout }: Awaited): Promise<void> {
  const all = { followers: followers.map(() => last), receivers: receivers.map(() => last), waiting: 0 };
  const have = async () => ({
    followers: followers.map(({ ids }) => ids.at(-1)),
    receivers: receivers.map(({ calls }) => calls.findLast(({ status }) => status === 204)?.id),
    waiting: await db.collection('webhook_deliveries').countDocuments({ state: 'PENDING' }),
  });
  await vi.waitFor(async () => expect(await have()).toEqual(all), { timeout, interval: 50 });
}

/** Each change is in the log once, the log has no gap, and nothing is left to be brought there. */
export async function expectPublished(db: Db, keys: readonly string[]): Promise<void> {
  await vi.waitFor(async () => expect(await untold(db)).toBe(0), { timeout: 10_000, interval: 20 });
  const events = await new EventLog(db).after(0, 10_000);
  expect(events.map(({ _id }) => _id)).toEqual(keys.map((_, index) => index + 1));
  expect(events.map(({ key }) => key).sort()).toEqual([...keys].sort());
}

/** Documents with something that is not in the log, as far as is known there. */
export async function untold(db: Db): Promise<number> {
  const names = ['days', 'forecasts', 'wagers'];
  const counts = await Promise.all(names.map((name) => db.collection(name).countDocuments({ 'outbox.change': { $gt: '' } })));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Every subscriber got each event once, every webhook each in order, and again only where its answer was lost. */
export async function expectNothingLost({ db }: TestDatabase, { keys, killed, followers, receivers }: PushOutcome): Promise<void> {
  await expectPublished(db, keys);
  const ids = keys.map((_, index) => index + 1);
  for (const follower of followers) {
    expect(follower.ids).toEqual(ids);
    expect(follower.complaints).toEqual([]);
  }
  const workersKilled = killed.filter((role) => role === 'worker').length;
  for (const receiver of receivers) await expectInOrder(db, receiver, { ids, workersKilled });
}

/** A webhook was called for these events in this order; for one again only where its answer was lost. */
export async function expectInOrder(
  db: Db,
  { url, calls, forged }: WebhookReceiver,
  { ids, workersKilled }: { ids: number[]; workersKilled: number },
) {
  expect(forged).toEqual([]);
  // One goes on to the next event, or is the same again.
  expect(calls.filter(({ id }, index) => id !== (calls[index - 1]?.id ?? 0) && id !== (calls[index - 1]?.id ?? 0) + 1)).toEqual([]);
  const messages = Map.groupBy(calls, ({ id }) => id);
  expect([...messages.keys()]).toEqual(ids);
  const taken = (same: readonly WebhookCall[]) => same.filter(({ status }) => status === 204);
  expect([...messages].filter(([, same]) => taken(same).length === 0).map(([id]) => id)).toEqual([]);
  const names = [...messages.values()].map((same) => new Set(same.map(({ messageId }) => messageId)));
  expect(names.every(({ size }) => size === 1)).toBe(true);
  expect(new Set(names.flatMap((own) => [...own])).size).toBe(ids.length);
  const webhook = await db.collection<{ _id: string; url: string }>('webhooks').findOne({ url: `${new URL(url).origin}/***` });
  const rows = await db
    .collection<WebhookDeliveryDoc>('webhook_deliveries')
    .find({ webhookId: webhook!._id })
    .sort({ position: 1 })
    .toArray();
  expect(rows.map(({ eventId, state }) => [eventId, state])).toEqual(ids.map((id) => [id, 'DELIVERED']));
  // A message that was taken comes again where the answer was lost: with the sender, or by its time.
  const again = [...messages.values()].reduce((sum, same) => sum + taken(same).length - 1, 0);
  const unheard = rows.flatMap(({ attempts }) => attempts.filter(({ status }) => status === null)).length;
  expect(again).toBeLessThanOrEqual(workersKilled + unheard);
}
