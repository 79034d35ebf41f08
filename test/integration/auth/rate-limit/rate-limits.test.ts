import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRateLimits, createRequestCountStore, type RateLimits, REQUEST_COUNT_INDEXES } from '../../../../src/auth/rate-limits.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { connectMongo, type Database, ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { type Cable, cable } from '../../../support/network/throttled-proxy.ts';

const LIMITS = { public: 60, wallet: 300, rpc: 10, tasks: 50 };
/** The begin of a window. */
const MINUTE = Date.UTC(2026, 4, 1, 23, 59);

let database: TestDatabase;
let nowMs: number;
let lines: string[];

const now = () => new Date(nowMs);
const log = createLog({ level: 'info', secrets: [], write: (line) => void lines.push(line) });
const openLimits = (db = database.db): RateLimits => createRateLimits({ counts: createRequestCountStore(db), limits: LIMITS, now, log });
const counts = () => database.db.collection('request_counts');

/** How many of so many requests are let through. */
async function allowed(limiter: RateLimits['public'], requests: number, client = 'somebody'): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: requests }, () => limiter.take(client)));
  return verdicts.filter((verdict) => verdict.allowed).length;
}

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, REQUEST_COUNT_INDEXES);
});
afterAll(() => database.drop());
beforeEach(async () => {
  nowMs = MINUTE;
  lines = [];
  await counts().deleteMany({});
});

describe('one process', () => {
  it.each([
    ['public', 60],
    ['failures', 60],
    ['wallet', 300],
    ['rpc', 10],
  ] as const)('lets exactly the limit of %s through, at once or one by one', async (policy, limit) => {
    const limits = openLimits();
    expect(await allowed(limits[policy], limit + 50, 'at once')).toBe(limit);
    for (let request = 1; request <= limit; request++) {
      const verdict = await limits[policy].take('one by one');
      expect(verdict).toEqual({
        policy,
        allowed: true,
        scope: 'client',
        limit,
        windowSeconds: 60,
        remaining: limit - request,
        resetSeconds: 60,
      });
    }
    expect(await limits[policy].take('one by one')).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('counts clients and policies separately', async () => {
    const limits = openLimits();
    expect(await allowed(limits.rpc, 20, 'a')).toBe(10);
    expect(await allowed(limits.rpc, 5, 'b')).toBe(5);
    expect(await allowed(limits.public, 60, 'a')).toBe(60);
  });

  it('starts anew each minute', async () => {
    const limits = openLimits();
    nowMs = MINUTE + 59_999;
    expect(await allowed(limits.public, 100)).toBe(60);
    expect(await limits.public.take('somebody')).toMatchObject({ resetSeconds: 1 });
    nowMs = MINUTE + 60_000;
    expect(await limits.public.take('somebody')).toMatchObject({ allowed: true, remaining: 59, resetSeconds: 60 });
  });

  it('writes for at most a tenth of the requests, and never for rejected ones', async () => {
    const limits = openLimits();
    await allowed(limits.public, 60);
    const [before] = await counts().find().toArray();
    expect(before.taken).toBe(600);
    expect(await allowed(limits.public, 500)).toBe(0);
    expect(await counts().find().toArray()).toEqual([before]);
  });

  it('returns a known rejection without counting', async () => {
    const limits = openLimits();
    expect(limits.rpc.getRejection('somebody')).toBeNull();
    await allowed(limits.rpc, 9);
    expect(limits.rpc.getRejection('somebody')).toBeNull();
    await allowed(limits.rpc, 1);
    expect(limits.rpc.getRejection('somebody')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 60 });
    nowMs += 60_000;
    expect(limits.rpc.getRejection('somebody')).toBeNull();
  });

  it('takes what it has leased without a wait, and asks for more before it takes anything', async () => {
    const { rpc, public: limiter } = openLimits();
    expect(limiter.takeLeased('somebody')).toBeNull();
    expect(await limiter.take('somebody')).toMatchObject({ allowed: true, remaining: 59 });
    for (let left = 58; left >= 54; left--) expect(limiter.takeLeased('somebody')).toMatchObject({ allowed: true, remaining: left });
    expect(limiter.takeLeased('somebody')).toBeNull();
    expect(await allowed(limiter, 100)).toBe(54);
    expect(limiter.takeLeased('somebody')).toMatchObject({ allowed: false, scope: 'client', remaining: 0 });

    const wide = '2001:db8:0:100::/64';
    expect(await allowed(rpc, 10, wide)).toBe(10);
    expect(rpc.takeLeased(wide)).toMatchObject({ allowed: false });
    // Its neighbour has no lease of its own yet, the ranges around both have one: nothing is taken of them.
    const neighbour = '2001:db8:0:101::/64';
    expect(rpc.takeLeased(neighbour)).toBeNull();
    expect(await allowed(rpc, 100, neighbour)).toBe(10);
    expect(await allowed(rpc, 100, '2001:db8:0:102::/64')).toBe(10);
    expect(await allowed(rpc, 100, '2001:db8:0:103::/64')).toBe(10);
    expect(rpc.takeLeased('2001:db8:0:104::/64')).toMatchObject({ allowed: false, scope: '/56' });
  });

  it('takes all units of a request or none, of the client and of its ranges', async () => {
    const { public: limiter, rpc } = openLimits();
    expect(await limiter.take('one by one', 40)).toMatchObject({ allowed: true, remaining: 20 });
    expect(await limiter.take('one by one', 30)).toMatchObject({ allowed: false, scope: 'client', remaining: 20 });
    expect(await limiter.take('one by one', 20)).toMatchObject({ allowed: true, remaining: 0 });

    const verdicts = await Promise.all(Array.from({ length: 20 }, () => limiter.take('at once', 7)));
    expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(8);
    expect(await allowed(limiter, 10, 'at once')).toBe(4);

    // The range has 40 units: a rejected request takes nothing of the client, which has enough.
    for (const subnet of ['100', '101', '102']) expect((await rpc.take(`2001:db8:0:${subnet}::/64`, 10)).allowed).toBe(true);
    expect(await rpc.take('2001:db8:0:103::/64', 5)).toMatchObject({ allowed: true, remaining: 5 });
    expect(await rpc.take('2001:db8:0:104::/64', 8)).toMatchObject({ allowed: false, scope: '/56', remaining: 5 });
    expect(await rpc.take('2001:db8:0:104::/64', 5)).toMatchObject({ allowed: true });
  });

  it('rejects a request of more units than the limit, and takes nothing for it', async () => {
    const { public: limiter } = openLimits();
    expect(await limiter.take('somebody', 61)).toMatchObject({ allowed: false, limit: 60, remaining: 60 });
    expect(await counts().countDocuments()).toBe(0);
    expect(await allowed(limiter, 61)).toBe(60);
  });

  it('counts tenths of a unit exactly, and says whole units', async () => {
    const { public: limiter } = openLimits();
    expect(await limiter.take('somebody', 0.1)).toMatchObject({ allowed: true, limit: 60, remaining: 59 });
    for (let tenth = 2; tenth <= 10; tenth++) expect(limiter.takeLeased('somebody', 0.1)).toMatchObject({ remaining: 59 });
    expect(limiter.takeLeased('somebody', 0.1)).toMatchObject({ remaining: 58 });
    const verdicts = await Promise.all(Array.from({ length: 700 }, () => limiter.take('somebody', 0.1)));
    expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(589);
    expect(await limiter.take('somebody', 0.1)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('rounds a price up to tenths, and takes at least one', async () => {
    const { public: limiter } = openLimits();
    expect(await limiter.take('somebody', 58.81)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await limiter.take('somebody', 0.001)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await limiter.take('somebody', 1.1)).toMatchObject({ allowed: false });
    expect(await limiter.take('somebody', 0.3 * 3)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('rejects in advance where less than a unit is left', async () => {
    const { public: limiter } = openLimits();
    await limiter.take('somebody', 59.1);
    expect(limiter.getRejection('somebody')).toMatchObject({ allowed: false, remaining: 0 });
    expect(await limiter.take('somebody', 0.9)).toMatchObject({ allowed: true });
  });
});

describe('several processes on one database', () => {
  it('allow no more than the limit together, in any order of requests', async () => {
    const processes = [openLimits(), openLimits(), openLimits()];
    const numbers = await Promise.all(processes.map(({ public: limiter }) => allowed(limiter, 100)));
    const sum = numbers.reduce((total, number) => total + number, 0);
    expect(sum).toBe(60);
  });

  it('share the limit', async () => {
    const [one, other] = [openLimits(), openLimits()];
    let passed = 0;
    for (let request = 0; request < 80; request++) passed += await allowed((request % 2 ? one : other).public, 1);
    expect(passed).toBe(60);
  });

  it('allow no more units than the limit together, whatever a request costs', async () => {
    const processes = [openLimits(), openLimits(), openLimits()];
    const prices = [0.1, 7, 2.5, 13, 0.4];
    const spent = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const price = prices[index % prices.length]!;
        return (await processes[index % 3]!.public.take('somebody', price)).allowed ? Math.round(price * 10) : 0;
      }),
    );
    const sum = spent.reduce((total, tenths) => total + tenths, 0);
    expect(sum).toBeLessThanOrEqual(600);
    expect(sum).toBeGreaterThan(450);
  });

  it('lose at most a tenth that another process has reserved', async () => {
    const [one, other] = [openLimits(), openLimits()];
    expect(await allowed(one.public, 1)).toBe(1);
    expect(await allowed(other.public, 100)).toBe(54);
    expect(await allowed(one.public, 100)).toBe(5);
  });
});

describe('without the database', () => {
  let wire: Cable;
  let behind: Database;

  beforeAll(async () => {
    wire = await cable(database.uri);
    behind = await connectMongo(wire.uri);
  });
  afterAll(async () => {
    await behind.close();
    await wire.close();
  });

  it.each(['cut', 'hang'] as const)('(%s) each process limits by itself, logs it once, and shares again afterwards', async (fault) => {
    const limits = openLimits(behind.db);
    expect(await allowed(limits.public, 10)).toBe(10);
    wire[fault]();
    expect(await allowed(limits.public, 100)).toBe(50);
    expect(await allowed(limits.public, 100, 'a newcomer')).toBe(60);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('each process limits for itself');

    wire.mend();
    nowMs += 60_000;
    await expect
      .poll(async () => {
        nowMs += 6_000;
        await limits.public.take(`client ${nowMs}`);
        return lines.length;
      })
      .toBe(2);
    expect(lines[1]).toContain('shared between processes again');
    const elsewhere = openLimits();
    // A connection that died in the fault may still be in the pool: its command counts locally once more.
    await expect
      .poll(async () => {
        nowMs += 6_000;
        const client = `both ${nowMs}`;
        return (await allowed(limits.public, 30, client)) + (await allowed(elsewhere.public, 100, client));
      })
      .toBe(60);
  });
});
