import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Chain } from '../../../src/chain/client.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type JobBench, jobBench } from '../../support/commerce/job-bench.ts';
import { type Buying, buyingBench } from '../../support/commerce/purchases.ts';
import { sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { WRITE_FAULTS } from '../../support/faults/mongo-fault-proxy.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';

/** Shorter than any lease. */
const MAX_MS = 7_000;
const PURCHASE = { offering: 'svc_verified_track_record', price: 500_000n };
const JOB = { offering: 'svc_market_context', price: 250_000n };

let chain: TestChain;
let database: FaultedDatabase;
let connected: Chain;
let buying: Buying;
let jobs: JobBench;
let jobDatabase: FaultedDatabase;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), faultedDatabase()]);
  connected = await chain.connect();
  buying = await buyingBench(chain, database.db, connected);
  jobs = await jobBench(1, async () => {
    jobDatabase = await faultedDatabase();
    return jobDatabase;
  });
});
afterAll(async () => {
  await jobs.stop();
  await chain.stop();
  await database.drop();
});

it('delivers a purchase once and books it once', async () => {
  const { db } = database.direct;
  const service = buying.open();
  const buyer = buying.buyer.address;
  const points = await sweepWrites({
    name: 'purchase',
    proxy: database.proxy,
    faults: WRITE_FAULTS,
    async scenario() {
      const txHash = await buying.pay(PURCHASE.price);
      const began = performance.now();
      const buy = () => service.buy({ offering: PURCHASE.offering, txHash, wallet: buyer }, { address: '192.0.2.1' });
      const delivered = await repeatWhileRetryable(buy);
      return { delivered, buy, txHash, ms: performance.now() - began };
    },
    async check({ delivered, buy, txHash, ms }) {
      expect(ms).toBeLessThan(MAX_MS);
      expect(await db.collection('payments').countDocuments({ txHash })).toBe(1);
      expect(await db.collection('purchases').countDocuments({ _id: txHash as never, delivery: { $ne: null } })).toBe(1);
      expect(await buy()).toEqual({ ...delivered, again: true });
    },
  });
  expect(points.length).toBeGreaterThan(9);
});

it('prices, delivers and books a job once', { timeout: 600_000 }, async () => {
  const buyer = await jobs.newBuyer();
  const { db } = jobDatabase.direct;
  /** Sweeps as the watch does, until a job is where it is expected. */
  const sweepUntil = async (jobId: bigint, isThere: (job: Document) => boolean) => {
    for (let sweep = 0; sweep < 12; sweep++) {
      await repeatWhileRetryable(() => jobs.sweep(jobs.parts, 1));
      const doc = await db.collection('agent_jobs').findOne({ jobId: jobId.toString() });
      if (doc !== null && isThere(doc)) return;
      // Of a failure's pause.
      jobs.clock.aheadMs += 15_000;
    }
    throw new Error(`the job does not go on: ${JSON.stringify(await db.collection('agent_jobs').findOne({ jobId: jobId.toString() }))}`);
  };
  const points = await sweepWrites({
    name: 'agent commerce job',
    proxy: jobDatabase.proxy,
    faults: ['cut-before', 'cut-after'],
    patience: 3,
    async scenario() {
      const jobId = await buyer.create({ expiresInSeconds: 86_400, description: JSON.stringify({ offering: JOB.offering }) });
      const sent = await jobs.sent();
      await sweepUntil(jobId, ({ onChain }) => onChain?.budget === String(JOB.price));
      await buyer.fund(jobId, JOB.price);
      await sweepUntil(jobId, (job) => job.submission !== null);
      await buyer.complete(jobId);
      await sweepUntil(jobId, (job) => job.payment !== null && job.due === null);
      return { jobId, sent };
    },
    async check({ jobId, sent }) {
      // One for the price, one for the deliverable.
      expect((await jobs.sent()) - sent).toBe(2);
      expect(await db.collection('payments').countDocuments({ resource: new RegExp(`[:/]${jobId}$`) })).toBe(1);
    },
  });
  expect(points.length).toBeGreaterThan(30);
});
