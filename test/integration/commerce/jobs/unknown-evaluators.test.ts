import { keccak256, maxUint256, stringToBytes, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JobDelivery, type JobDocWithoutText, JobStore } from '../../../../src/commerce/jobs/job-store.ts';
import { MAX_OPEN_OFFERS } from '../../../../src/commerce/jobs/jobs.ts';
import type { JobDeps } from '../../../../src/commerce/jobs/processing.ts';
import { OracleError } from '../../../../src/errors.ts';
import { TIME } from '../../../../src/platform/validation.ts';
import { type JobBench, jobBench } from '../../../support/commerce/job-bench.ts';
import { commerceAbi, type JobClient } from '../../../support/commerce/job-client.ts';

const PRICE = 1_000_000n;
const PAUSE_MS = 30 * 60_000;
const STRANGERS = { evaluators: [], maxMicros: PRICE, unpaidPauseMs: PAUSE_MS, direct: null };

let bench: JobBench;
let careful: JobDeps;
beforeAll(async () => {
  bench = await jobBench();
});
beforeEach(async () => {
  bench.clock.aheadMs = 0;
  // Jobs of one test would wait for their turn in the next.
  await bench.forgetJobs();
  careful = bench.makeParts({ policy: STRANGERS });
});
afterAll(() => bench?.stop());

const noted = async (jobId: bigint) => (await bench.store.find(bench.contract, jobId)) as JobDocWithoutText;
const isDelivered = async (jobId: bigint) => (await noted(jobId)).submission !== null;

/** The slot is held by the clock of the database. */
const ageSlot = (ms: number) => bench.parts.deliverySlot.slots.updateMany({}, [{ $set: { until: { $subtract: ['$until', ms] } } }]);

interface Party {
  jobId: bigint;
  client: JobClient;
  /** A wallet made for this one job. */
  evaluator: JobClient;
}

/** A job of wallets that nobody has seen before. */
async function created(): Promise<Party> {
  const [client, evaluator] = await Promise.all([bench.newBuyer(), bench.newBuyer()]);
  return { client, evaluator, jobId: await client.create({ evaluator: evaluator.address, expiresInSeconds: 7_200 }) };
}

/** As many of them, taken on and funded. */
async function funded(count: number, by: JobDeps = careful): Promise<Party[]> {
  const parties = await Promise.all(Array.from({ length: count }, created));
  await bench.sweep(by);
  for (const { client, jobId } of parties) await client.fund(jobId, PRICE);
  return parties;
}

async function served(parties: Party[]): Promise<{ done: Party[]; waiting: Party[] }> {
  const flags = await Promise.all(parties.map(({ jobId }) => isDelivered(jobId)));
  return { done: parties.filter((_, index) => flags[index]), waiting: parties.filter((_, index) => !flags[index]) };
}

describe('jobs of unknown evaluators', () => {
  it('are delivered one at a time over all processes, the next once the last is paid', async () => {
    const parties = await funded(3);
    const other = bench.makeParts({ policy: STRANGERS, store: new JobStore(bench.database.db) });
    await Promise.all([bench.sweep(careful), bench.sweep(other)]);
    const first = await served(parties);
    expect(first.done).toHaveLength(1);
    for (const { jobId } of first.waiting) {
      expect(await noted(jobId)).toMatchObject({ accepted: true, failure: 'STEP_WAITING', delivery: null });
    }

    await first.done[0].evaluator.complete(first.done[0].jobId);
    bench.clock.aheadMs = 60_000;
    await Promise.all([bench.sweep(careful), bench.sweep(other)]);
    bench.clock.aheadMs = 120_000;
    await Promise.all([bench.sweep(careful), bench.sweep(other)]);
    expect((await served(parties)).done).toHaveLength(2);
  });

  it('wait for the pause after a rejected delivery, for all wallets', async () => {
    const [first, second] = await funded(2);
    await bench.sweep(careful);
    const { done, waiting } = await served([first, second]);
    expect(done).toHaveLength(1);
    await done[0].evaluator.reject(done[0].jobId);
    bench.clock.aheadMs = PAUSE_MS - 60_000;
    await ageSlot(PAUSE_MS - 60_000);
    await bench.sweep(careful);
    expect(await isDelivered(waiting[0].jobId)).toBe(false);

    const late = await created();
    await bench.sweep(careful);
    const reason = expect.stringMatching(/one at a time: .* or after \d{4}-\d\d-\d\dT/);
    expect(await noted(late.jobId)).toMatchObject({ accepted: false, reason, budgetTx: null, due: null });

    bench.clock.aheadMs = PAUSE_MS + 60_000;
    await ageSlot(120_000);
    await bench.sweep(careful);
    expect(await isDelivered(waiting[0].jobId)).toBe(true);
  });

  it('do not delay a job of a known evaluator', async () => {
    await funded(1);
    await bench.sweep(careful);
    const party = await created();
    const known = bench.makeParts({ policy: { ...STRANGERS, evaluators: [party.evaluator.address] } });
    await bench.sweep(known);
    await party.client.fund(party.jobId, PRICE);
    await bench.sweep(known);
    expect(await isDelivered(party.jobId)).toBe(true);
  });

  it('release the slot when nothing was delivered, also after a crash in between', async () => {
    const [first] = await funded(1);
    const store = new JobStore(bench.database.db);
    store.saveDelivery = () => Promise.reject(new OracleError('SHUTTING_DOWN', 'killed'));
    await bench.sweep({ ...careful, store }, 1);
    expect(await bench.parts.deliverySlot.getTakenUntil({ _id: 'another', contract: bench.contract })).not.toBeNull();
    await first.evaluator.reject(first.jobId);
    await bench.sweep(careful);
    const [second] = await funded(1);
    await bench.sweep(careful);
    expect(await isDelivered(second.jobId)).toBe(true);
  });

  it('do not hold the slot while their document fails to compose', async () => {
    const parties = await funded(2);
    const compose: JobDeps['compose'] = () => Promise.reject(new OracleError('STEP_WAITING', 'no forecast yet'));
    await bench.sweep({ ...careful, compose });
    expect(await bench.parts.deliverySlot.slots.countDocuments()).toBe(0);
    expect((await served(parties)).done).toEqual([]);
  });

  it.each(['client', 'evaluator'] as const)('are rejected when their %s has an unpaid delivery', async (who) => {
    const atOnce = bench.makeParts({ policy: { ...STRANGERS, unpaidPauseMs: 0 } });
    const [before] = await funded(1, atOnce);
    await bench.sweep(atOnce);
    await before.evaluator.reject(before.jobId);
    await bench.sweep(atOnce);

    const fresh = await bench.newBuyer();
    const [client, evaluator] = who === 'client' ? [before.client, fresh] : [fresh, before.evaluator];
    const jobId = await client.create({ evaluator: evaluator.address });
    await bench.sweep(atOnce);
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('rejected an earlier delivery') });
  });

  it('are rejected when an earlier job of the same wallets is rejected after their acceptance', async () => {
    const [client, evaluator] = await Promise.all([bench.newBuyer(), bench.newBuyer()]);
    const jobIds: bigint[] = [];
    for (let count = 0; count < 2; count += 1) jobIds.push(await client.create({ evaluator: evaluator.address, expiresInSeconds: 7_200 }));
    await bench.sweep(careful);
    for (const jobId of jobIds) await client.fund(jobId, PRICE);
    await bench.sweep(careful);
    const [first, second] = (await isDelivered(jobIds[0]!)) ? jobIds : jobIds.toReversed();
    await evaluator.reject(first!);
    await bench.sweep(careful);
    bench.clock.aheadMs = PAUSE_MS;
    await bench.sweep(careful);
    expect(await isDelivered(second!)).toBe(false);
    expect(await noted(second!)).toMatchObject({ accepted: false, reason: expect.stringContaining('unpaid'), delivery: null });
  });

  it('are rejected when the maximum price is 0', async () => {
    const { jobId } = await created();
    await bench.sweep(bench.makeParts({ policy: { ...STRANGERS, maxMicros: 0n } }));
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('name one that the offerings list') });
  });
});

describe('a delivery', () => {
  it('is salted: the same document twice has different bytes and hashes', async () => {
    const [{ jobId }] = await funded(1);
    const composed: JobDelivery[] = [];
    const store = new JobStore(bench.database.db);
    store.saveDelivery = async (_, delivery) => {
      composed.push(delivery);
      throw new OracleError('STEP_WAITING', 'not kept');
    };
    const now = new Date(Date.now() + 60_000);
    const document = { kind: 'the same' };
    const deps: JobDeps = {
      ...{ ...careful, store },
      now: () => now,
      compose: async () => ({ document, forecastId: null, attestationUid: null }),
    };
    await bench.sweep(deps, 1);
    await store.update(`${bench.contract.toLowerCase()}:${jobId}`, { due: new Date(0) });
    await bench.sweep(deps, 1);

    const [one, two] = composed.map(({ text }) => JSON.parse(text));
    expect(one.salt).toMatch(/^0x[0-9a-f]{64}$/);
    expect(two).toEqual({ ...one, salt: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect(two.salt).not.toBe(one.salt);
    for (const { text, hash } of composed) expect(hash).toBe(keccak256(stringToBytes(text)));
  });
});

describe('many unfunded offers', () => {
  it('do not precede a funded job', async () => {
    const { store, contract } = bench;
    const event = (jobId: bigint, funded: boolean) => ({ id: `${jobId}:${funded}`, jobId, blockNumber: 1n, assigned: !funded, funded });
    const offers = [901n, 902n, 903n].map((jobId) => event(jobId, false));
    await store.recordEvents(contract, [...offers, event(903n, true)], new Date());
    expect((await store.listDue(new Date(), 2)).map(({ jobId }) => jobId)).toEqual(['903', '901']);
    await store.jobs.deleteMany({});
    await store.recordEvents(contract, offers, new Date());
    expect((await store.listDue(new Date(), 1)).map(({ jobId }) => jobId)).toEqual(['901']);
  });

  it('are marked as funded by chain events', async () => {
    const [{ jobId }] = await funded(1);
    expect(await noted(jobId)).toMatchObject({ accepted: true, funded: false });
    await bench.sweep(careful, 1);
    expect(await noted(jobId)).toMatchObject({ funded: true });
  });

  it('are not checked again after a rejection', async () => {
    const client = await bench.newBuyer();
    const jobId = await client.create({ description: 'junk' });
    await bench.sweep(careful);
    expect(await noted(jobId)).toMatchObject({ accepted: false, due: null });
    await client.call('setBudget', [jobId, PRICE, '0x']);
    await client.fund(jobId, PRICE);
    await bench.sweep(careful);
    expect(await noted(jobId)).toMatchObject({ accepted: false, due: null, funded: true, onChain: { state: 'FUNDED' } });
  });

  it('are limited per client until one is funded or rejected', async () => {
    const client = await bench.newBuyer();
    const jobs: bigint[] = [];
    for (let count = 0; count < MAX_OPEN_OFFERS; count++) jobs.push(await client.create());
    await bench.sweep(careful);
    expect(await noted(jobs.at(-1)!)).toMatchObject({ accepted: true });

    const sent = await bench.sent();
    const tooMany = await client.create();
    await bench.sweep(careful);
    expect(await noted(tooMany)).toMatchObject({ accepted: false, reason: expect.stringContaining('not funded') });
    expect(await bench.sent()).toBe(sent);

    await client.reject(jobs[0]);
    await bench.sweep(careful);
    const another = await client.create();
    await bench.sweep(careful);
    expect(await noted(another)).toMatchObject({ accepted: true });
  });
});

describe('a job that never expires', () => {
  it('gets the latest RFC 3339 time as its expiry, and is checked within the hour', async () => {
    const client = await bench.newBuyer();
    await client.call('createJob', [bench.provider, client.address, maxUint256, 'svc_market_context', zeroAddress]);
    const jobId = await bench.chain.client.readContract({ address: bench.contract, abi: commerceAbi, functionName: 'jobCounter' });
    await bench.sweep(careful);
    const { onChain, accepted, due } = await noted(jobId);
    expect(accepted).toBe(true);
    expect(TIME.parse(onChain!.expiresAt.toISOString())).toBe('9999-12-31T23:59:59.000Z');
    expect(due!.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000 + 60_000);
  });
});
