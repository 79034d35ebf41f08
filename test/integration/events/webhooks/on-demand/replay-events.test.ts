import fc from 'fast-check';
import type { Address } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnyEvent,
  type AnyEventDraft,
  EVENT_INDEXES,
  EVENT_RETENTION_DAYS,
  type EventContent,
  EventLog,
} from '../../../../../src/events/log.ts';
import {
  buildMessageId,
  DeliveryQueue,
  WEBHOOK_INDEXES,
  type WebhookDeliveryDoc,
  type WebhookDoc,
} from '../../../../../src/events/webhooks/queue.ts';
import { MAX_REPLAYED_EVENTS_PER_DAY, type ReplayRequest, type WebhookRegistration } from '../../../../../src/events/webhooks/registry.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { MOVE_SIZES } from '../../../../../src/forecast/move.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { inEntry } from '../../../../../src/platform/tracing.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { newWallet, regimeDraft, testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

const START = new Date('2026-03-10T12:00:00Z');
const minutes = (count: number) => new Date(START.getTime() + count * 60_000);

let database: TestDatabase;
let log: EventLog;
let clock: Date;
const now = () => clock;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  clock = minutes(60);
  for (const { name } of await database.db.listCollections().toArray()) await database.db.dropCollection(name);
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES, ...EVENT_INDEXES]);
  log = new EventLog(database.db);
});

const registry = () => testRegistry(database.db, { now });
const queue = () => new DeliveryQueue(database.db);
const webhooks = () => database.db.collection<WebhookDoc>('webhooks');
const rows = (id: string): Promise<WebhookDeliveryDoc[]> =>
  queue()
    .list(id, { limit: 100_000 })
    .then((found) => found.reverse());
const queuedIds = async (id: string) => (await rows(id)).map(({ eventId }) => eventId);

async function registered(change: Partial<WebhookRegistration> = {}): Promise<{ wallet: Address; id: string }> {
  const wallet = newWallet();
  const url = 'https://hooks.example.com/a';
  const { _id: id } = await registry().register(wallet, { url, events: ['regime.changed', 'webhook.disabled'], ...change });
  return { wallet, id };
}

/** Events 1 to `count`, a minute apart. */
async function events(count: number, drafts: (index: number) => AnyEventDraft = (index) => regimeDraft(`e${index}`, minutes(index))) {
  await log.append(
    Array.from({ length: count }, (_, index) => drafts(index + 1)),
    clock,
  );
}

const refusal = (wallet: Address, id: string, request: ReplayRequest) =>
  registry()
    .replay(wallet, id, request)
    .then(
      () => 'taken',
      ({ code, field }: { code: string; field?: string }) => ({ code, field }),
    );

/** Counts so many more to the day of a wallet that has replayed something. */
async function replayedBefore(wallet: Address, count: number) {
  const uses = database.db.collection<{ _id: string; used: number }>('webhook_daily_use');
  const { matchedCount } = await uses.updateOne(
    { _id: new RegExp(`^replay:${wallet.toLowerCase()}:`) as never },
    { $inc: { used: count } },
  );
  expect(matchedCount).toBe(1);
}

const invalid = (field: string) => ({ code: 'INPUT_INVALID', field });

describe('a replay', () => {
  it('queues one event, all since an id, or all since a time, in their order and under their ids', async () => {
    await events(6);
    const one = await registered();
    const single = await registry().replay(one.wallet, one.id, { eventId: 3 });
    expect(single).toEqual({ replayId: expect.stringMatching(/^[0-9a-f-]{36}$/), queued: 1, from: 3, to: 3 });
    expect(await rows(one.id)).toMatchObject([
      { position: 1, eventId: 3, messageId: buildMessageId('e3'), cause: `replay:${single.replayId}`, state: 'PENDING', attempts: [] },
    ]);
    const asked: [ReplayRequest, number[]][] = [
      [{ sinceId: 0 }, [1, 2, 3, 4, 5, 6]],
      [{ sinceId: 4 }, [5, 6]],
      [{ sinceId: 6 }, []],
      [{ sinceId: 2, until: minutes(5) }, [3, 4]],
      [{ since: minutes(4) }, [4, 5, 6]],
      [{ since: minutes(2), until: minutes(4) }, [2, 3]],
      [{ since: minutes(2), until: new Date(minutes(4).getTime() + 1) }, [2, 3, 4]],
      [{ since: minutes(90) }, []],
    ];
    for (const [request, ids] of asked) {
      const { wallet, id } = await registered();
      const replay = await registry().replay(wallet, id, request);
      expect(replay, JSON.stringify(request)).toMatchObject({ queued: ids.length, from: ids[0] ?? null, to: ids.at(-1) ?? null });
      expect(replay.replayId === null).toBe(ids.length === 0);
      expect(await queuedIds(id)).toEqual(ids);
    }
  });

  it('carries the trace of its request, in place of that of the event', async () => {
    await log.append([{ ...regimeDraft('traced', minutes(1)), traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }], clock);
    const { wallet, id } = await registered();
    const parent = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), isSampled: true };
    await inEntry({ name: 'POST', parent, fields: { requestId: 'r' } }, () => registry().replay(wallet, id, { eventId: 1 }));
    expect(await rows(id)).toMatchObject([{ traceparent: expect.stringMatching(new RegExp(`^00-${parent.traceId}-[0-9a-f]{16}-01$`)) }]);
  });

  it('stands behind what waits already', async () => {
    await events(3);
    const { wallet, id } = await registered();
    const waiting = { type: 'regime.changed', messageId: 'evt_live', cause: 'live' } as const;
    await queue().append({ _id: id, wallet: wallet.toLowerCase() }, [{ ...waiting, eventId: 3 }], clock);
    await registry().replay(wallet, id, { sinceId: 1 });
    expect((await rows(id)).map(({ position, eventId, cause }) => [position, eventId, cause.slice(0, 6)])).toEqual([
      [1, 3, 'live'],
      [2, 2, 'replay'],
      [3, 3, 'replay'],
    ]);
  });

  it.each<[string, ReplayRequest]>([
    ['since', {}],
    ['since', { until: START }],
    ['sinceId', { eventId: 1, sinceId: 1 }],
    ['since', { sinceId: 1, since: START }],
    ['since', { eventId: 1, since: START }],
    ['until', { eventId: 1, until: START }],
    ['until', { since: START, until: START }],
    ['until', { since: START, until: new Date(START.getTime() - 1) }],
    ['eventId', { eventId: 4 }],
    ['sinceId', { sinceId: 4 }],
    ['since', { since: new Date(START.getTime() + 3_600_000 - EVENT_RETENTION_DAYS * DAY_MS - 1) }],
  ])('of what cannot be is refused by the name of the field: %s %o', async (field, request) => {
    await events(3);
    const { wallet, id } = await registered();
    expect(await refusal(wallet, id, request)).toEqual(invalid(field));
    expect(await rows(id)).toEqual([]);
  });

  it('of what is gone is rejected, and says what is the oldest', async () => {
    const old = new Date(START.getTime() - (EVENT_RETENTION_DAYS + 1) * DAY_MS);
    await events(5, (index) => regimeDraft(`e${index}`, index <= 3 ? old : minutes(index)));
    await log.purge(clock);
    const { wallet, id } = await registered();
    const gone = (request: ReplayRequest) => registry().replay(wallet, id, request);
    await expect(gone({ eventId: 3 })).rejects.toMatchObject({ ...invalid('eventId'), details: { oldestId: 4 } });
    await expect(gone({ sinceId: 2 })).rejects.toMatchObject({ ...invalid('sinceId'), details: { oldestId: 4 } });
    await gone({ sinceId: 3 });
    expect(await queuedIds(id)).toEqual([4, 5]);
  });

  it('of an event that the webhook is not called for is rejected alike, whatever it is', async () => {
    const { wallet, id } = await registered({ events: ['signal.new', 'webhook.disabled'] });
    const content = { webhookId: id, url: 'https://hooks.example.com/', reason: 'gone', failingSince: null };
    const notice = (key: string, of: string): AnyEventDraft => ({
      ...regimeDraft(key, START),
      type: 'webhook.disabled',
      wallet: of,
      content,
    });
    await log.append([regimeDraft('e1', START), notice('e2', newWallet().toLowerCase()), notice('e3', wallet.toLowerCase())], clock);
    const [kind, theirs] = await Promise.all(
      [1, 2].map((eventId) =>
        registry()
          .replay(wallet, id, { eventId })
          .catch((error) => error),
      ),
    );
    expect(kind).toMatchObject(invalid('eventId'));
    expect(theirs.message).toBe(kind.message);
    await registry().replay(wallet, id, { sinceId: 0 });
    expect(await queuedIds(id)).toEqual([3]);
  });

  it('waits once: another one is rejected until it is over', async () => {
    await events(3);
    const { wallet, id } = await registered();
    await registry().replay(wallet, id, { sinceId: 0 });
    expect(await refusal(wallet, id, { sinceId: 0 })).toMatchObject({ code: 'CONFLICT' });
    expect(await refusal(wallet, id, { eventId: 2 })).toMatchObject({ code: 'CONFLICT' });
    expect(await rows(id)).toHaveLength(3);
    await queue().cancel(id, clock);
    expect(await refusal(wallet, id, { eventId: 2 })).toBe('taken');
    expect(await queuedIds(id)).toEqual([1, 2, 3, 2]);
  });

  it('asked for many times at once is queued once', async () => {
    await events(20);
    const { wallet, id } = await registered();
    const all = await Promise.all(Array.from({ length: 8 }, () => refusal(wallet, id, { sinceId: 0 })));
    expect(all.filter((one) => one === 'taken')).toHaveLength(1);
    for (const one of all) if (one !== 'taken') expect(one).toMatchObject({ code: 'CONFLICT' });
    expect(await queuedIds(id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it('that its process left half done holds up others for half a minute', async () => {
    await events(2);
    const { wallet, id } = await registered();
    const claimUntil = (claimedUntil: Date) => webhooks().updateOne({ _id: id }, { $set: { replays: { claimedUntil } } });
    // By the clock of the database.
    await claimUntil(new Date(Date.now() + 30_000));
    expect(await refusal(wallet, id, { sinceId: 0 })).toMatchObject({ code: 'CONFLICT' });
    await claimUntil(new Date(Date.now() - 1_000));
    expect(await refusal(wallet, id, { sinceId: 0 })).toBe('taken');
  });

  it('has so many events a day, and only those that were queued count', async () => {
    await events(3);
    const { wallet, id } = await registered();
    await registry().replay(wallet, id, { eventId: 1 });
    expect(await refusal(wallet, id, { sinceId: 0 })).toMatchObject({ code: 'CONFLICT' });
    await queue().cancel(id, clock);
    await replayedBefore(wallet, MAX_REPLAYED_EVENTS_PER_DAY - 3);
    const refused = await registry()
      .replay(wallet, id, { sinceId: 0 })
      .catch((error) => error);
    const midnight = DAY_MS - (clock.getTime() % DAY_MS);
    expect(refused).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSeconds: midnight / 1_000,
      details: { used: MAX_REPLAYED_EVENTS_PER_DAY - 2 },
    });
    expect(await refusal(wallet, id, { sinceId: 1 })).toBe('taken');
    await queue().cancel(id, clock);
    expect(await refusal(wallet, id, { eventId: 1 })).toMatchObject({ code: 'RATE_LIMITED' });
    clock = new Date(clock.getTime() + midnight);
    expect(await refusal(wallet, id, { sinceId: 0 })).toBe('taken');
  });

  it('has no more of a day for being to another webhook of the wallet, or to one that was deleted and registered again', async () => {
    await events(2);
    const { wallet, id } = await registered();
    await registry().replay(wallet, id, { eventId: 1 });
    await replayedBefore(wallet, MAX_REPLAYED_EVENTS_PER_DAY - 1);
    const wanted = { events: ['regime.changed'] } as const;
    const { _id: other } = await registry().register(wallet, { url: 'https://hooks.example.com/b', ...wanted });
    expect(await refusal(wallet, other, { eventId: 1 })).toMatchObject({ code: 'RATE_LIMITED' });
    await registry().remove(wallet, id);
    const { _id: again } = await registry().register(wallet, { url: 'https://hooks.example.com/a', ...wanted });
    expect(await refusal(wallet, again, { eventId: 1 })).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await rows(again)).toEqual([]);
    const somebody = await registered();
    expect(await refusal(somebody.wallet, somebody.id, { eventId: 1 })).toBe('taken');
  });

  it('that does not get into the queue is not counted', async () => {
    await events(2);
    const { wallet, id } = await registered();
    const append: DeliveryQueue['append'] = () => Promise.reject(new Error('the database went away'));
    const broken = testRegistry(database.db, { now, parts: { queue: Object.assign(queue(), { append }) } });
    await expect(broken.replay(wallet, id, { sinceId: 0 })).rejects.toThrow('the database went away');
    await replayedBefore(wallet, MAX_REPLAYED_EVENTS_PER_DAY - 2);
    expect(await refusal(wallet, id, { sinceId: 0 })).toBe('taken');
  });

  it('that a day has no room for holds up no smaller one', async () => {
    await events(2);
    const { wallet, id } = await registered();
    await registry().replay(wallet, id, { eventId: 1 });
    await queue().cancel(id, clock);
    await replayedBefore(wallet, MAX_REPLAYED_EVENTS_PER_DAY - 2);
    expect(await refusal(wallet, id, { sinceId: 0 })).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await refusal(wallet, id, { eventId: 2 })).toBe('taken');
  });

  it('to a disabled webhook is rejected', async () => {
    await events(1);
    const { wallet, id } = await registered();
    await registry().disable(id, 'its host complained');
    expect(await refusal(wallet, id, { eventId: 1 })).toMatchObject({ code: 'CONFLICT' });
    expect(await rows(id)).toEqual([]);
  });

  it('while its webhook is deleted leaves nothing in a queue, and says so', async () => {
    await events(3);
    const { wallet, id } = await registered();
    const append: DeliveryQueue['append'] = async (...of) => {
      await registry().remove(wallet, id);
      return queue().append(...of);
    };
    const late = testRegistry(database.db, { now, parts: { queue: Object.assign(queue(), { append }) } });
    await expect(late.replay(wallet, id, { sinceId: 0 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await rows(id)).toEqual([]);
  });

  it('and a deletion at once leave nothing, whichever comes first', async () => {
    await events(40);
    for (let round = 0; round < 5; round++) {
      const { wallet, id } = await registered();
      const [replay] = await Promise.all([refusal(wallet, id, { sinceId: 0 }), registry().remove(wallet, id)]);
      if (replay !== 'taken') expect(replay).toMatchObject({ code: expect.stringMatching(/^(?:NOT_FOUND|CONFLICT)$/) });
      expect(await rows(id)).toEqual([]);
    }
  });
});

describe('whatever is asked for', () => {
  const KINDS = ['regime.changed', 'signal.new', 'webhook.disabled'] as const;
  const WALLET = newWallet();
  const someEvents = fc.array(
    fc.record({
      type: fc.constantFrom(...KINDS),
      horizonDays: fc.constantFrom(null, 1, 2, 3, 7),
      wallet: fc.constantFrom(null, WALLET.toLowerCase(), newWallet().toLowerCase()),
      minute: fc.integer({ min: 0, max: 30 }),
      moveSize: fc.constantFrom(...MOVE_SIZES),
      moveSizeBefore: fc.constantFrom(null, ...MOVE_SIZES),
    }),
    { minLength: 250, maxLength: 450 },
  );
  const kinds = fc.subarray([...KINDS], { minLength: 1 });
  const horizons = fc.option(fc.subarray([1, 2, 3, 7], { minLength: 1 }), { nil: null });
  const sizes = fc.option(fc.subarray([...MOVE_SIZES], { minLength: 1 }), { nil: null });
  const minute = fc.integer({ min: 0, max: 31 }).map(minutes);
  const request: fc.Arbitrary<ReplayRequest> = fc.oneof(
    fc.record({ sinceId: fc.integer({ min: 0, max: 250 }), until: fc.option(minute, { nil: undefined }) }),
    fc.record({ since: minute }),
    fc.tuple(minute, fc.integer({ min: 1, max: 30 * 60_000 })).map(([since, ms]) => ({ since, until: new Date(since.getTime() + ms) })),
  );

  /** Said once more, the slow way. */
  function expected(
    all: AnyEvent[],
    webhook: Required<Pick<WebhookDoc, 'events' | 'horizons' | 'moveSize'>>,
    { sinceId, since, until }: ReplayRequest,
  ) {
    const named = all.filter(
      ({ _id, at }) => (sinceId === undefined ? at >= since! : _id > sinceId) && (until === undefined || at < until),
    );
    return named
      .filter(({ type }) => webhook.events.includes(type))
      .filter(({ type, content }) => {
        if (type !== 'signal.new' || webhook.moveSize === null) return true;
        const { move, moveSizeBefore } = content as EventContent['signal.new'];
        return moveSizeBefore !== null && move!.moveSize !== moveSizeBefore && webhook.moveSize.includes(move!.moveSize);
      })
      .filter(({ wallet }) => wallet === null || wallet === WALLET.toLowerCase())
      .filter(({ horizonDays }) => webhook.horizons === null || horizonDays === null || webhook.horizons.includes(horizonDays))
      .map(({ _id }) => _id);
  }

  it('is what is queued: of its kinds, horizons, sizes and owner, in the order of the log', async () => {
    const [made] = fc.sample(someEvents, { numRuns: 1, seed: 5 });
    const drafts = made!.map(
      ({ minute: at, moveSize, moveSizeBefore, ...event }, index) =>
        ({ ...regimeDraft(`e${index}`, minutes(at)), content: { move: { moveSize }, moveSizeBefore }, ...event }) as AnyEventDraft,
    );
    await log.append(drafts, clock);
    const all = await log.after(0, 1_000);
    const property = fc.asyncProperty(kinds, horizons, sizes, request, async (events, of, moveSize, asked) => {
      const { _id: id } = await registry().register(WALLET, { url: 'https://hooks.example.com/a', events, horizons: of, moveSize });
      const replay = await registry().replay(WALLET, id, asked);
      const ids = expected(all, { events, horizons: of, moveSize }, asked);
      expect(replay).toMatchObject({ queued: ids.length, from: ids[0] ?? null, to: ids.at(-1) ?? null });
      expect(await queuedIds(id)).toEqual(ids);
      await registry().remove(WALLET, id);
      expect(await rows(id)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});
