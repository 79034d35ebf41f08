import { Long, ObjectId } from 'mongodb';
import { type Address, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyStore } from '../../../src/auth/api-keys.ts';
import { JOB_INDEXES, JobStore } from '../../../src/commerce/jobs/job-store.ts';
import { CONTEST_INDEXES, createContest } from '../../../src/contest.ts';
import { DeliveryQueue, WEBHOOK_INDEXES } from '../../../src/events/webhooks/queue.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { PollStore } from '../../../src/market/live/store.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { createTrustedTime } from '../../../src/platform/time.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { openHostedMarket, startLiveHost } from '../../support/market/live-host.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES, ...JOB_INDEXES, ...CONTEST_INDEXES]);
});
afterAll(() => database.drop());

const CONTRACT = `0x${'c'.repeat(40)}` as Address;
const log = createLog({ level: 'silent', secrets: [] });
/** What a process wrote whose clock was two days ahead. */
const ahead = (ms = 0) => new Date(Date.now() + 2 * DAY_MS + ms);
const wrongTime = () =>
  createTrustedTime({ now: () => ahead(), databaseNow: async () => new Date(), newestBlockAt: async () => new Date() });

describe('what a clock two days ahead has put off', () => {
  it('a poll of market data runs at once', async () => {
    const polls = new PollStore(database.db);
    const waits = { leaseMs: MINUTE_MS, maxWaitMs: HOUR_MS };
    expect(await polls.claim('spot', ahead().getTime(), waits)).toBe(true);
    await polls.succeeded('spot', ahead().getTime(), ahead(MINUTE_MS).getTime());
    expect(await polls.claim('spot', Date.now(), waits)).toBe(true);
    expect(await polls.claim('spot', Date.now(), waits), 'once').toBe(false);
  });

  it('a job and the post of a delivery are looked at in the next round', async () => {
    const store = new JobStore(database.db);
    const job = { contract: CONTRACT, jobId: '1', funded: true, due: ahead(HOUR_MS) };
    const posting = { attempts: 3, due: ahead(MINUTE_MS), postedAt: null };
    const delivered = { submission: { at: new Date() }, onChain: { state: 'COMPLETED', evaluator: zeroAddress }, posting };
    await store.jobs.insertOne({ _id: `${CONTRACT}:1`, ...job, ...delivered } as never);
    await store.jobs.insertOne({ _id: `${CONTRACT}:2`, ...job, jobId: '2', due: new Date(Date.now() + HOUR_MS) } as never);
    expect((await store.listDue(new Date(), 9)).map(({ jobId }) => jobId)).toEqual(['1']);
    expect((await store.listUnposted(CONTRACT, new Date(), 9)).map(({ jobId }) => jobId)).toEqual(['1']);
  });

  it('the head of a webhook is sent once the times are repaired, and a retry of a day waits', async () => {
    const queue = new DeliveryQueue(database.db);
    const head = (webhookId: string, nextAttemptAt: Date) => ({ webhookId, position: 1, once: webhookId, state: 'PENDING', nextAttemptAt });
    const insert = (doc: object) => database.db.collection('webhook_deliveries').insertOne({ _id: new ObjectId(), lease: null, ...doc });
    await insert(head('far', ahead()));
    await insert(head('retry', new Date(Date.now() + 28 * HOUR_MS)));
    expect(await queue.claim(1_000)).toBeNull();
    await queue.repairTimes();
    expect((await queue.claim(1_000))?.delivery.webhookId).toBe('far');
    expect(await queue.claim(1_000)).toBeNull();
  });
});

describe('a process whose clock is two days ahead', () => {
  it('collects no market data', async () => {
    const noon = toInstantMs(parseDay('2026-03-11'), 12);
    const host = await startLiveHost(() => noon);
    const live = openHostedMarket({ host, db: database.db, log, now: () => noon + 2 * DAY_MS, time: wrongTime() });
    await live.collectPrices();
    await live.collect();
    const names = ['spot_prices', 'running_ranges', 'observations', 'daily_closes'];
    expect(await Promise.all(names.map((name) => database.db.collection(name).countDocuments()))).toEqual([0, 0, 0, 0]);
    await host.close();
  });

  it('takes no place in a round of the contest', async () => {
    const opensAt = ahead(DAY_MS);
    const market = { id: '2026-W50-60000', strikeUsd: 60_000, oracleBps: null, above: null };
    await database.db
      .collection<{ _id: string }>('contest_rounds')
      .insertOne({ _id: '2026-W50', state: 'OPEN', opensAt, markets: [market] } as never);
    const parts = {
      db: database.db,
      log,
      now: () => ahead(),
      time: wrongTime(),
      isSignedBy: async () => true,
      isHolder: async () => false,
    };
    const deployment = { chainId: 8453, identityRegistry: CONTRACT, agentId: 1 };
    const commitment = {
      market: market.id,
      wallet: CONTRACT,
      probabilityBps: 5_000,
      issuedAtMs: ahead().getTime(),
      signature: '0x' as const,
    };
    const contest = createContest({ ...parts, deployment } as never);
    await expect(contest.commit(commitment, '192.0.2.1')).rejects.toMatchObject({ code: 'STEP_WAITING' });
    expect(await database.db.collection('contest_entrants').countDocuments()).toBe(0);
  });

  it('makes no API key that lasts longer than was asked', async () => {
    const key = {
      _id: 'id',
      hash: 'hash',
      wallet: CONTRACT,
      createdAt: ahead(),
      expiresAt: ahead(DAY_MS),
      lastUsedAt: null,
      amount: Long.ONE,
    };
    const keys = new ApiKeyStore(database.db);
    expect(await keys.add(key as never)).toBe(true);
    const { expiresAt } = (await database.db.collection('api_keys').findOne({ hash: 'hash' }))!;
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(DAY_MS);
  });
});
