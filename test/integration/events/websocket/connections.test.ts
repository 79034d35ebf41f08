import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PAYLOADS, WEBSOCKET } from '../../../../src/events/events.ts';
import { type AnyEventDraft, buildForecastDrafts, EVENT_INDEXES } from '../../../../src/events/log.ts';
import { ConnectionSlotStore, SLOT_INDEXES } from '../../../../src/events/websocket/hub.ts';
import { SERVER_MESSAGES } from '../../../../src/events/websocket/messages.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { noticeDraft, regimeDraft, regimeDrafts } from '../../../support/events/event-drafts.ts';
import { between } from '../../../support/record/arbitraries.ts';
import { type Asked, WebSocketBench, wallet } from '../../../support/websocket/websocket-bench.ts';
import { type Client, openClient } from '../../../support/websocket/websocket-client.ts';
import { buildTestForecast } from '../../../unit/record/forecast-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let database: TestDatabase;
let bench: WebSocketBench;
let benches: WebSocketBench[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, [...EVENT_INDEXES, ...SLOT_INDEXES]);
  benches = [];
  bench = await another();
});
afterEach(() => Promise.all(benches.map((each) => each.close())));

async function another(): Promise<WebSocketBench> {
  const made = await new WebSocketBench(database.db).open();
  benches.push(made);
  return made;
}

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const upTo = (client: Client, id: number) => client.until(() => client.eventIds().at(-1) === id);
/** More than the buffers of the operating system hold, and 1 MiB beside. */
const BULKY = 64;
const bulkyDraft = (key: string) =>
  ({ ...regimeDraft(key), content: { ...regimeDraft(key).content, date: 'x'.repeat(256 * 1024) } }) as AnyEventDraft;
const closeCode = async ({ closed }: Client) => (await closed).code;
const signals = (horizons: number[], date = '2026-03-10') =>
  horizons.flatMap((horizonDays) =>
    buildForecastDrafts(buildTestForecast({ date, horizonDays, state: 'PENDING' }), { change: 'made', at: new Date() }),
  );
const slots = () => database.db.collection('websocket_slots').countDocuments();

describe('what is sent', () => {
  it('begins with caller and subscription, then sends each event once, as its schema says', async () => {
    await bench.append(regimeDrafts(0, 3));
    await expect.poll(() => bench.hub.lastBroadcastId).toBe(3);
    const client = await bench.connect({ tier: 'basic' });
    expect(client.messages[0]).toEqual({
      type: 'connected',
      data: {
        wallet: wallet(1),
        tier: 'basic',
        expiresAt: '2026-03-10T12:30:00.000Z',
        lastEventId: 3,
        subscription: { events: Object.keys(PAYLOADS), horizons: ['7d'], moveSize: null },
        pingSeconds: WEBSOCKET.pingSeconds,
      },
      timestamp: '2026-03-10T12:00:00.000Z',
    });
    await bench.append([...signals([7]), regimeDraft('later')]);
    await upTo(client, 5);
    expect(client.eventIds()).toEqual([4, 5]);
    const signal = client.messages.find(({ type }) => type === 'signal.new');
    expect(Object.keys(signal).sort()).toEqual(['data', 'id', 'timestamp', 'type']);
    expect(PAYLOADS['signal.new'].strict().safeParse(signal.data).error).toBeUndefined();
    for (const message of client.messages.filter(({ id }) => id === undefined)) {
      expect(SERVER_MESSAGES[message.type as 'connected'].schema.strict().safeParse(message).error).toBeUndefined();
    }
  });

  it('is rendered per tier, with more fields for Premium', async () => {
    const [basic, premium] = await Promise.all([bench.connect({ tier: 'basic' }), bench.connect({ wallet: 2 })]);
    await bench.append(signals([7]));
    const [toBasic, toPremium] = await Promise.all([basic.first('signal.new'), premium.first('signal.new')]);
    expect(toBasic.data).toMatchObject({ signal: 'BUY', direction: 'UP', confidence: 0.5876, premium: null });
    expect(toPremium.data).toMatchObject({ signal: 'BUY', premium: { threshold: 0.06, climatology: 0.54 } });
    expect({ ...toPremium.data, premium: null }).toEqual(toBasic.data);
  });

  it('is only what was asked for, by kind and horizon; what has no horizon passes, and a notice goes to its owner', async () => {
    const [all, story, some, other] = await Promise.all([
      bench.connect({ horizons: 'all' }),
      bench.connect(),
      bench.connect({ events: 'signal.new', horizons: '2d,7d' }),
      bench.connect({ wallet: 2, events: 'regime.changed,webhook.disabled', horizons: '3d' }),
    ]);
    const drafts = [...signals([1, 2, 3, 7]), regimeDraft('r'), noticeDraft('n', wallet(1).toLowerCase())];
    await bench.append([...drafts, ...signals([7], '2026-03-11'), regimeDraft('end')]);
    await Promise.all([upTo(all, 8), upTo(story, 8), upTo(some, 7), upTo(other, 8)]);
    expect(all.eventIds()).toEqual(ids(1, 8));
    expect(story.eventIds()).toEqual([4, 5, 6, 7, 8]);
    expect(some.eventIds()).toEqual([2, 4, 7]);
    expect(other.eventIds()).toEqual([5, 8]);
  });

  it('is of a filtered move its changes to a size, by default of 1 day, and the same when they are sent again', async () => {
    const [wild, allHorizons, calmest] = await Promise.all([
      bench.connect({ moveSize: 'WILD', events: 'signal.new' }),
      bench.connect({ moveSize: 'WILD', horizons: 'all' }),
      bench.connect({ horizons: 'all' }),
    ]);
    expect(wild.messages[0].data.subscription).toEqual({ events: ['signal.new'], horizons: ['1d'], moveSize: ['WILD'] });
    calmest.send({ type: 'subscribe', data: { moveSize: ['USUAL', 'CALM'] } });
    expect((await calmest.first('subscribed')).data).toMatchObject({ horizons: ['1d'], moveSize: ['CALM', 'USUAL'] });
    const days = [
      ['2026-03-10', null, 'WILD'],
      ['2026-03-11', 'WILD', 'WILD'],
      ['2026-03-12', 'WILD', 'CALM'],
      ['2026-03-13', 'CALM', 'WILD'],
      ['2026-03-14', 'WILD', 'USUAL'],
    ] as const;
    const drafts = days.flatMap(([date, before, moveSize]) =>
      [1, 7].flatMap((horizonDays) =>
        buildForecastDrafts(buildTestForecast({ date, horizonDays, moveSize }), { change: 'made', at: new Date() }, before),
      ),
    );
    await bench.append([...drafts, regimeDraft('end')]);
    const again = await bench.connect({ moveSize: 'WILD', horizons: '1d', since: 0 });
    await Promise.all([upTo(allHorizons, 11), upTo(calmest, 11), upTo(again, 11)]);
    expect(wild.eventIds()).toEqual([7]);
    expect(allHorizons.eventIds()).toEqual([7, 8, 11]);
    expect(calmest.eventIds()).toEqual([5, 9, 11]);
    expect(again.eventIds()).toEqual([7, 11]);
    expect((await wild.first('signal.new')).data).toMatchObject({ moveSize: 'WILD', moveSizeBefore: 'CALM', horizon: '1d' });
  });

  it.each([
    [{ horizons: 'all' }, null],
    [{ horizons: ['7', 2] }, ['2d', '7d']],
    [{ horizon: '2d' }, ['2d']],
    [{ horizon: 7 }, ['7d']],
    [{}, ['7d']],
  ])('covers the horizons of a `subscribe` message with %j', async (choice, horizons) => {
    const client = await bench.connect({ horizons: '1d' });
    client.send({ type: 'subscribe', data: choice });
    expect((await client.first('subscribed')).data.horizons).toEqual(horizons);
  });

  it('changes with a message, from then on', async () => {
    const client = await bench.connect();
    client.send({ type: 'subscribe', data: { events: ['regime.changed'], horizons: ['7d'] } });
    expect((await client.first('subscribed')).data).toEqual({ events: ['regime.changed'], horizons: ['7d'], moveSize: null });
    await bench.append([...signals([7]), regimeDraft('r')]);
    await upTo(client, 2);
    client.send({ type: 'subscribe', data: {} });
    await client.until((all) => all.filter(({ type }) => type === 'subscribed').length === 2);
    await bench.append(signals([7], '2026-03-11'));
    await upTo(client, 3);
    expect(client.eventIds()).toEqual([2, 3]);
  });

  it('closes a slow reader with 4008, while all others receive everything', async () => {
    const [slow, dead, quick] = await Promise.all([bench.connect(), bench.connect(), bench.connect({ wallet: 2 })]);
    for (const { socket } of [slow, dead]) socket.pause();
    for (let count = 1; count <= BULKY; count++) {
      await bench.append([bulkyDraft(`bulky${count}`)]);
      await upTo(quick, count);
    }
    expect(quick.eventIds()).toEqual(ids(1, BULKY));
    // Who goes on reading within half a minute hears why, whatever pings he could not answer.
    bench.clock.advance(30 * SECOND - 1);
    for (let round = 1; round <= 2; round++) {
      await bench.hub.checkConnections();
      quick.send({ type: 'ping' });
      await quick.until((all) => all.filter(({ type }) => type === 'pong').length === round);
    }
    slow.socket.resume();
    expect((await slow.closed).code).toBe(4008);
    const got = slow.eventIds();
    expect(got).toEqual(ids(1, got.length));
    expect(got.length).toBeLessThan(BULKY);
    // Who does not even take the farewell by then is dropped.
    await expect.poll(() => bench.hub.size).toBe(2);
    bench.clock.advance(1);
    await expect.poll(() => bench.hub.size).toBe(1);
    await bench.append([regimeDraft('after')]);
    await upTo(quick, BULKY + 1);
    dead.socket.terminate();
  });

  it('is sent again, once to each, after a failed encoding', async () => {
    const [basic, premium] = [await bench.connect({ tier: 'basic' }), await bench.connect({ wallet: 2 })];
    // The first event is sent, the second is not; then neither.
    bench.viewFaults = [false, true];
    await bench.append([regimeDraft('first')]);
    await Promise.all([upTo(basic, 1), upTo(premium, 1)]);
    bench.viewFaults = [true, true];
    await bench.append([regimeDraft('second'), regimeDraft('third')]);
    await Promise.all([upTo(basic, 3), upTo(premium, 3)]);
    expect([basic.eventIds(), premium.eventIds(), bench.viewFaults]).toEqual([ids(1, 3), ids(1, 3), []]);
  });
});

describe('since', () => {
  const since = (id: number, more: Asked = {}) => openClient(bench.urlFor({ since: id, ...more }));

  it('sends what was missed, then says so, then goes on', async () => {
    await bench.append(regimeDrafts(0, 250));
    const client = await since(10);
    expect((await client.first('replay.complete')).data).toEqual({ through: 250 });
    await bench.append([regimeDraft('live')]);
    await upTo(client, 251);
    expect(client.eventIds()).toEqual(ids(11, 251));
    expect(client.messages.map(({ type }) => type).filter((type) => type !== 'regime.changed')).toEqual(['connected', 'replay.complete']);
  });

  it('names what is kept no longer', async () => {
    await bench.append(regimeDrafts(0, 9));
    await database.db.collection('events').deleteMany({ _id: { $lt: 5 } as never });
    const client = await since(1);
    await client.first('replay.complete');
    expect(client.messages.map(({ type, id, data }) => id ?? [type, data.from, data.to])).toEqual([
      ['connected', undefined, undefined],
      ['replay.gap', 2, 4],
      ...ids(5, 9),
      ['replay.complete', undefined, undefined],
    ]);
    const without = await since(4);
    await without.first('replay.complete');
    expect(without.messages.map(({ type }) => type)).not.toContain('replay.gap');
  });

  it('closes with 1013 if the log ends before the last broadcast, as after a restored backup, without polling it continuously', async () => {
    await bench.append(regimeDrafts(0, 5));
    await expect.poll(() => bench.hub.lastBroadcastId).toBe(5);
    await database.db.collection('events').deleteMany({ _id: { $gt: 3 } as never });
    const after = vi.spyOn(bench.events, 'after');
    const client = await since(0);
    await upTo(client, 3);
    let ended = false;
    void client.closed.then(() => {
      ended = true;
    });
    const passTime = () => {
      // It rests by this clock.
      bench.rounds.advance(500);
      return ended;
    };
    await expect.poll(passTime).toBe(true);
    expect(await closeCode(client)).toBe(1013);
    expect(after.mock.calls.filter(([id]) => id === 3)).toHaveLength(6);
    expect(client.messages.map(({ type }) => type)).not.toContain('replay.complete');
  });

  it('sends what matches only, and a notice to its owner', async () => {
    await bench.append([
      regimeDraft('a'),
      noticeDraft('mine', wallet(1).toLowerCase()),
      noticeDraft('his', wallet(2).toLowerCase()),
      ...signals([2, 7]),
    ]);
    const client = await since(0, { horizons: '7d' });
    expect((await client.first('replay.complete')).data).toEqual({ through: 5 });
    expect(client.eventIds()).toEqual([1, 2, 5]);
  });

  it('neither loses nor doubles anything while events come in, whenever it was', { timeout: 40_000 }, async () => {
    let appended = 0;
    const property = fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 12 }),
      fc.array(between(0, 1), { minLength: 4, maxLength: 4 }),
      async (sizes, points) => {
        const before = appended;
        const writing = (async () => {
          for (const size of sizes) {
            await bench.append(regimeDrafts(appended, size));
            appended += size;
          }
        })();
        const readers = points.map(async (point, index) => {
          const start = Math.floor(point * before);
          const client = await since(start, { wallet: index + 1 });
          return { client, start };
        });
        await writing;
        for (const { client, start } of await Promise.all(readers)) {
          await client.until(() => client.eventIds().at(-1) === appended || start === appended);
          expect(client.eventIds()).toEqual(ids(start + 1, appended));
          client.socket.terminate();
        }
      },
    );
    await fc.assert(property, { numRuns: 12 });
    expect(appended).toBeGreaterThan(300);
  });
});

describe('a token', () => {
  it('closes the connection with 4001 at its expiry, after a notice one minute before', async () => {
    const client = await bench.connect();
    bench.clock.advance(29 * MINUTE - 1);
    client.send({ type: 'ping' });
    await client.first('pong');
    expect(client.messages.some(({ type }) => type === 'token.expiring')).toBe(false);
    bench.clock.advance(1);
    expect((await client.first('token.expiring')).data).toEqual({ expiresAt: '2026-03-10T12:30:00.000Z' });
    bench.clock.advance(MINUTE - 1);
    client.send({ type: 'ping' });
    await client.until((all) => all.filter(({ type }) => type === 'pong').length === 2);
    bench.clock.advance(1);
    expect(await client.closed).toEqual({ code: 4001, reason: 'the token has expired or was revoked' });
  });

  it('is replaced in place, and the new one counts from then on', async () => {
    const client = await bench.connect({ tier: 'basic' });
    bench.clock.advance(20 * MINUTE);
    bench.tokens.set('fresh', bench.holder({ tier: 'premium' }));
    client.send({ type: 'authenticate', data: { token: 'fresh' } });
    expect((await client.first('authenticated')).data).toEqual({ tier: 'premium', expiresAt: '2026-03-10T12:50:00.000Z' });
    // The previous session does not matter any more.
    bench.standings.set(bench.sessions[0], 'ended');
    await bench.hub.checkConnections();
    bench.clock.advance(15 * MINUTE);
    await bench.append(signals([7]));
    expect((await client.first('signal.new')).data.premium).not.toBeNull();
    expect(client.messages.some(({ type }) => type === 'token.expiring')).toBe(false);
    bench.clock.advance(15 * MINUTE);
    expect(await closeCode(client)).toBe(4001);
  });

  it.each([
    ['of another wallet', 'INPUT_INVALID'],
    ['that is not good', 'UNAUTHENTICATED'],
  ])('%s changes nothing', async (name, code) => {
    const client = await bench.connect();
    if (code === 'INPUT_INVALID') bench.tokens.set(name, bench.holder({ wallet: 2 }));
    bench.clock.advance(MINUTE);
    client.send({ type: 'authenticate', data: { token: name } });
    const { data } = await client.first('error');
    expect(data).toMatchObject({ code, field: 'data.token', suggestedAction: expect.any(String) });
    bench.clock.advance(29 * MINUTE);
    expect(await closeCode(client)).toBe(4001);
    expect(bench.log.join('')).not.toContain(name);
  });

  it.each([
    ['was revoked', 'ended', 4001],
    ['opens less than Basic by now', 'public', 4003],
    ['cannot be looked up for too long', 'unknown', 1013],
  ] as const)('whose session %s ends it within a round with its own code', async (_, standing, code) => {
    const [client, other] = [await bench.connect(), await bench.connect({ wallet: 2 })];
    bench.standings.set(bench.sessions[0], standing);
    await bench.hub.checkConnections();
    expect(await closeCode(client)).toBe(code);
    other.send({ type: 'ping' });
    await other.first('pong');
  });

  it('closes after five minutes without a session lookup, and not before', async () => {
    const client = await bench.connect();
    bench.isDatabaseDown = true;
    for (let round = 1; round <= 10; round++) {
      const pinged = new Promise((resolve) => client.socket.once('ping', resolve));
      bench.rounds.advance(30 * SECOND);
      await pinged;
      client.send({ type: 'ping' });
      await client.until((all) => all.filter(({ type }) => type === 'pong').length === round);
    }
    bench.rounds.advance(30 * SECOND);
    expect(await closeCode(client)).toBe(1013);
    expect(bench.log.some((line) => line.includes('the connections could not be looked after'))).toBe(true);
  });

  it('of a wallet that has fallen from Premium to Basic goes on, with less', async () => {
    const client = await bench.connect({ tier: 'premium' });
    bench.standings.set(bench.sessions[0], 'basic');
    await bench.hub.checkConnections();
    await bench.append(signals([7]));
    expect((await client.first('signal.new')).data).toMatchObject({ signal: 'BUY', premium: null });
  });
});

describe('a peer', () => {
  it('that does not answer a ping by the next is dropped, and its slot is free', async () => {
    const [dead, alive] = [await openClient(bench.url, { autoPong: false }), await bench.connect({ wallet: 2 })];
    const pinged = Promise.all([dead, alive].map(({ socket }) => new Promise((resolve) => socket.once('ping', resolve))));
    bench.rounds.advance(30 * SECOND);
    await pinged;
    // An answer to it stands before this one in the same stream.
    alive.send({ type: 'ping' });
    await alive.first('pong');
    bench.rounds.advance(30 * SECOND);
    expect(await closeCode(dead)).toBe(1006);
    alive.send({ type: 'ping' });
    await alive.until((all) => all.filter(({ type }) => type === 'pong').length === 2);
    await expect.poll(slots).toBe(1);
  });

  it('receives an error naming the field for an invalid message, and stays connected', async () => {
    const client = await bench.connect();
    const wrong: [unknown, string][] = [
      ['{', 'message'],
      ['[]', 'type'],
      ['"ping"', 'message'],
      [{ type: 'unsubscribe' }, 'type'],
      [{ type: 'subscribe', data: { events: ['signal.old'] } }, 'data.events.0'],
      [{ type: 'subscribe', data: { horizons: [] } }, 'data.horizons'],
      [{ type: 'subscribe', data: { horizon: '7d', horizons: 'all' } }, 'data.horizon'],
      [{ type: 'subscribe', data: { kinds: ['signal.new'] } }, 'data'],
      [{ type: 'authenticate', data: {} }, 'data.token'],
    ];
    for (const [message] of wrong) client.send(message);
    client.socket.send(Buffer.from('{"type":"ping"}'), { binary: true });
    client.send({ type: 'ping' });
    await client.first('pong');
    const errors = client.messages.filter(({ type }) => type === 'error').map(({ data }) => data);
    expect(errors.map(({ code }) => code)).toEqual(Array(wrong.length + 1).fill('INPUT_INVALID'));
    expect(errors.map(({ field }) => field)).toEqual([...wrong.map(([, field]) => field), 'message']);
  });

  it.each([
    ['messages', 61, (client: Client) => client.send({ type: 'ping' })],
    ['pings', 61, (client: Client) => client.socket.ping()],
    ['pongs', 61, (client: Client) => client.socket.pong()],
    ['messages that are not valid', 11, (client: Client) => client.send('nonsense')],
  ])('that sends too many %s is closed with 1008, and one less is all right', async (_, count, send) => {
    const [client, modest] = [await bench.connect(), await bench.connect({ wallet: 2 })];
    for (let index = 1; index < count; index++) send(modest);
    for (let index = 0; index < count; index++) send(client);
    expect(await closeCode(client)).toBe(1008);
    bench.clock.advance(MINUTE);
    modest.send({ type: 'ping' });
    await modest.until((all) => all.at(-1).type === 'pong');
    expect(modest.socket.readyState).toBe(modest.socket.OPEN);
  });
});

describe('several processes', () => {
  it('give a wallet five connections together, and the sixth once one of them is gone', async () => {
    const other = await another();
    const first = await Promise.all([0, 1, 2].map(() => bench.connect()));
    await Promise.all([0, 1].map(() => other.connect()));
    await expect(openClient(other.url)).rejects.toThrow('429');
    await expect(openClient(bench.url)).rejects.toThrow('429');
    await bench.connect({ wallet: 2 });
    first[1].socket.terminate();
    await expect.poll(slots).toBe(5);
    await other.connect();
    await expect(openClient(bench.url)).rejects.toThrow('429');
  });

  it('never give it a sixth, however many come at once', async () => {
    const other = await another();
    const came = await Promise.allSettled(Array.from({ length: 16 }, (_, index) => openClient((index % 2 ? bench : other).url)));
    expect(came.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(bench.hub.size + other.hub.size).toBe(5);
  });

  it('free the slots of one that was killed once its lease is over', async () => {
    await Promise.all([0, 1, 2, 3, 4].map(() => bench.connect()));
    const other = await another();
    await expect(openClient(other.url)).rejects.toThrow('429');
    // As if it had not been heard of for longer than the lease.
    await database.db.collection('websocket_slots').updateMany({}, [{ $set: { until: { $subtract: ['$$NOW', 1] } } }]);
    const client = await other.connect();
    // The process that was thought dead gives up the one that it has lost, and keeps the others.
    await bench.hub.checkConnections();
    await expect.poll(() => bench.hub.size).toBe(4);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(await slots()).toBe(5);
  });

  it('free a slot later that could not be freed when its connection ended', async () => {
    const client = await bench.connect();
    const release = vi.spyOn(bench.slots, 'release').mockRejectedValueOnce(new Error('the database does not answer'));
    client.socket.terminate();
    await expect.poll(() => bench.hub.size).toBe(0);
    await expect.poll(() => bench.log.some((line) => line.includes('could not be freed'))).toBe(true);
    expect(await slots()).toBe(1);
    await bench.hub.checkConnections();
    expect(await slots()).toBe(0);
    await bench.hub.checkConnections();
    expect(release).toHaveBeenCalledTimes(2);
  });

  it('send no heartbeat for a slot without a connection', async () => {
    const own = new ConnectionSlotStore(database.db);
    await Promise.all(['kept', 'left'].map((connection) => own.claim(connection, connection)));
    const untilOf = async () =>
      Object.fromEntries(
        (await database.db.collection('websocket_slots').find().toArray()).map(({ connection, until }) => [connection, until]),
      );
    await database.db.collection('websocket_slots').updateMany({}, [{ $set: { until: { $add: ['$$NOW', SECOND] } } }]);
    const before = await untilOf();
    expect(await own.heartbeat(['kept'])).toEqual([]);
    const renewed = await untilOf();
    expect(renewed.left).toEqual(before.left);
    expect(renewed.kept.getTime()).toBeGreaterThan(before.kept.getTime());
    expect(await own.heartbeat(['kept', 'lost'])).toEqual(['lost']);
    await own.releaseAll();
  });

  it('deliver each event to each of their connections once', async () => {
    const other = await another();
    const clients = await Promise.all(
      [bench, other].flatMap((each, index) => [1, 2].map((number) => each.connect({ wallet: index * 2 + number }))),
    );
    await Promise.all([bench.append(regimeDrafts(0, 60)), other.append(regimeDrafts(30, 60))]);
    await Promise.all(clients.map((client) => upTo(client, 90)));
    for (const client of clients) expect(client.eventIds()).toEqual(ids(1, 90));
  });
});

describe('the end', () => {
  it('closes all connections with 1001, accepts no more, and releases the slots', async () => {
    const clients = [await bench.connect(), await bench.connect({ wallet: 2 })];
    const mute = await bench.connect({ wallet: 3 });
    mute.socket.pause();
    const closing = bench.close();
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual(
      [0, 1].map(() => ({ code: 1001, reason: 'the service is stopping' })),
    );
    await closing;
    expect([bench.hub.size, await slots()]).toEqual([0, 0]);
    mute.socket.terminate();
  });
});
