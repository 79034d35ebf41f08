import { setTimeout as delay } from 'node:timers/promises';
import { keccak256, parseEventLogs, stringToBytes, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentCommerceAbi } from '../../../../src/chain/erc8183.ts';
import { type JobDocWithoutText, JobStore } from '../../../../src/commerce/jobs/job-store.ts';
import { type JobDeps, watchJobs } from '../../../../src/commerce/jobs/processing.ts';
import type { PaymentDoc } from '../../../../src/commerce/ledger.ts';
import { OracleError } from '../../../../src/errors.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { type JobBench, jobBench } from '../../../support/commerce/job-bench.ts';
import type { JobClient, NewJob } from '../../../support/commerce/job-client.ts';

const PRICE = 1_000_000n;

let bench: JobBench;
let buyer: JobClient;
beforeAll(async () => {
  bench = await jobBench();
});
beforeEach(async () => {
  buyer = await bench.newBuyer();
});
afterAll(() => bench?.stop());

const noted = async (jobId: bigint) => (await bench.store.find(bench.contract, jobId)) as JobDocWithoutText;
const booked = (jobId: bigint): Promise<PaymentDoc | null> =>
  bench.ledger.payments.findOne({ _id: `job:${bench.contract.toLowerCase()}:${jobId}` });

/** A job that the provider has accepted. */
async function accepted(job: Partial<NewJob> = {}, by: JobDeps = bench.parts): Promise<bigint> {
  const jobId = await buyer.create(job);
  await bench.sweep(by);
  expect(await noted(jobId)).toMatchObject({ accepted: true, reason: null });
  return jobId;
}

async function funded(job: Partial<NewJob> = {}): Promise<bigint> {
  const jobId = await accepted(job);
  await buyer.fund(jobId, (await buyer.job(jobId)).budget);
  return jobId;
}

/** Hashes that were submitted for a job, by the chain's own events. */
async function submissionsOf(jobId: bigint): Promise<string[]> {
  const { client } = bench.chain;
  const logs = parseEventLogs({ abi: agentCommerceAbi, logs: await client.getLogs({ address: bench.contract, fromBlock: 0n }) });
  return logs.flatMap(({ eventName, args }) => (eventName === 'JobSubmitted' && args.jobId === jobId ? [args.deliverable] : []));
}

async function delivered(jobId: bigint): Promise<string> {
  return (await bench.store.findSubmittedDelivery(bench.contract, jobId))!.text;
}

describe('a job', () => {
  it('is priced, delivered once funded, and recorded to the unit once completed', async () => {
    const before = await buyer.coins(bench.provider);
    const jobId = await accepted({ description: '{"offering":"svc_market_context","ref":"Partner-1"}' });
    expect((await buyer.job(jobId)).budget).toBe(250_000n);

    await buyer.fund(jobId, 250_000n);
    await bench.sweep();
    const [hash, ...others] = await submissionsOf(jobId);
    const text = await delivered(jobId);
    expect(others).toEqual([]);
    expect(keccak256(stringToBytes(text))).toBe(hash);
    expect(JSON.parse(text)).toMatchObject({
      kind: 'agent-commerce-delivery',
      job: { chain: 'eip155:84532', contract: bench.contract, jobId: jobId.toString(), client: buyer.address, provider: bench.provider },
      offering: 'svc_market_context',
      price: '0.25 USD',
      document: { kind: 'svc_market_context' },
    });
    expect(await booked(jobId)).toBeNull();

    const { transactionHash } = await buyer.complete(jobId);
    await bench.sweep();
    const payment = await booked(jobId);
    expect(payment).toMatchObject({
      ...{ channel: 'agent-commerce', offering: 'svc_market_context', ref: 'partner-1', txHash: transactionHash },
      ...{ payer: buyer.address.toLowerCase(), payee: bench.provider.toLowerCase() },
    });
    expect((await buyer.coins(bench.provider)) - before).toBe(BigInt(payment!.amountMicros.toString()));
    expect(await noted(jobId)).toMatchObject({ due: null, onChain: { state: 'COMPLETED' }, payment: { txHash: transactionHash } });
  });

  it.each(['svc_crowd_vs_oracle', ' svc_crowd_vs_oracle\n', '{"offering":"svc_crowd_vs_oracle","horizon":"7d"}'])(
    'may be described as %j',
    async (description) => {
      const jobId = await accepted({ description });
      expect((await buyer.job(jobId)).budget).toBe(500_000n);
    },
  );

  it('may have its provider assigned later, and a budget that equals the price', async () => {
    const jobId = await buyer.create({ provider: zeroAddress });
    await bench.sweep();
    expect(await noted(jobId)).toBeNull();
    await buyer.call('setBudget', [jobId, PRICE, '0x']);
    await buyer.call('setProvider', [jobId, bench.provider]);
    const sent = await bench.sent();
    await bench.sweep();
    expect(await noted(jobId)).toMatchObject({ accepted: true, budgetTx: null });
    expect(await bench.sent()).toBe(sent);
  });

  it('of another provider is ignored', async () => {
    const jobId = await buyer.create({ provider: buyer.address });
    await bench.sweep();
    expect(await noted(jobId)).toBeNull();
  });

  it('is delivered when it was created and funded while no process was running', async () => {
    const jobId = await buyer.create();
    await buyer.call('setBudget', [jobId, PRICE + 1n, '0x']);
    await buyer.fund(jobId, PRICE + 1n);
    await bench.sweep(bench.makeParts());
    expect(await submissionsOf(jobId)).toHaveLength(1);
    await buyer.complete(jobId);
    await bench.sweep();
    expect(Number((await booked(jobId))!.amountMicros)).toBe(Number(PRICE + 1n));
  });
});

describe('a rejected job has a reason and no price:', () => {
  const refused: [string, Partial<NewJob>, RegExp][] = [
    ['that says nothing', { description: '' }, /description must be/],
    ['that is no JSON', { description: '{"offering":' }, /description must be/],
    ['that names no offering', { description: '{"service":"svc_bitcoin_signal"}' }, /description must be/],
    ['with a field nobody knows', { description: '{"offering":"svc_bitcoin_signal","horizn":"1d"}' }, /horizon and ref/],
    ['for what is not sold', { description: '{"offering":"svc_alpha_brief"}' }, /No such offering.*svc_bitcoin_signal/],
    ['for another horizon', { description: '{"offering":"svc_bitcoin_signal","horizon":"1d"}' }, /forecast of 7 days/],
    ['with a ref code that is none', { description: '{"offering":"svc_bitcoin_signal","ref":"a b"}' }, /ref code must have/],
    ['with a long description', { description: `{"offering":"svc_bitcoin_signal"}${' '.repeat(1_024)}` }, /more than 1024 bytes/],
    ['with a hook', { hook: '0x00000000000000000000000000000000000000aa' }, /hook/],
    ['that expires too soon', { expiresInSeconds: 330 }, /expires too soon/],
  ];

  it.each(refused)('one %s', async (_, job, reason) => {
    const jobId = await buyer.create(job);
    bench.clock.aheadMs = 60_000;
    await bench.sweep();
    bench.clock.aheadMs = 0;
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringMatching(reason), budgetTx: null });
    expect((await buyer.job(jobId)).budget).toBe(0n);
  });

  it('with the provider as its evaluator', async () => {
    const jobId = await buyer.create({ evaluator: bench.provider });
    await bench.sweep();
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('does not judge') });
  });

  it('above the maximum price, unless its evaluator is known', async () => {
    const careful = { maxMicros: PRICE - 1n, evaluators: [], unpaidPauseMs: 0, direct: null };
    const jobId = await buyer.create();
    await bench.sweep(bench.makeParts({ policy: careful }));
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('up to 0.999999 USD') });

    await accepted({}, bench.makeParts({ policy: { ...careful, evaluators: [buyer.address] } }));
    await accepted({ description: 'svc_market_context' }, bench.makeParts({ policy: careful }));
  });

  it('also after it is funded', async () => {
    const jobId = await buyer.create({ description: 'signal, please' });
    await bench.sweep();
    await buyer.call('setBudget', [jobId, PRICE, '0x']);
    await buyer.fund(jobId, PRICE);
    await bench.sweep();
    expect(await noted(jobId)).toMatchObject({ accepted: false, delivery: null, onChain: { state: 'FUNDED' } });
    expect(await submissionsOf(jobId)).toEqual([]);
  });

  it('when the client lowers the budget before funding', async () => {
    const jobId = await accepted();
    await buyer.call('setBudget', [jobId, PRICE - 1n, '0x']);
    await buyer.fund(jobId, PRICE - 1n);
    const count = bench.composed.length;
    await bench.sweep();
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('less than the price'), delivery: null });
    expect(bench.composed).toHaveLength(count);
  });

  it('and its parties are recorded when its delivery is rejected', async () => {
    const jobId = await funded();
    await bench.sweep();
    await buyer.reject(jobId);
    await bench.sweep();
    const unpaidBy = [buyer.address.toLowerCase(), buyer.address.toLowerCase()];
    expect(await noted(jobId)).toMatchObject({ due: null, onChain: { state: 'REJECTED' }, payment: null, unpaidBy });
    expect(await booked(jobId)).toBeNull();
    // His jobs are taken on all the same, since he is known.
    await accepted();
  });

  it('and its parties are not recorded when nothing was delivered', async () => {
    const jobId = await funded();
    await buyer.reject(jobId);
    await bench.sweep();
    expect(await noted(jobId)).toMatchObject({ onChain: { state: 'REJECTED' }, delivery: null });
    expect(await noted(jobId)).not.toHaveProperty('unpaidBy');
  });
});

/** What a process that dies at this write leaves behind. */
function dyingStore(at: keyof JobStore, only: (facts: unknown) => boolean = () => true): JobStore {
  const store = new JobStore(bench.database.db) as JobStore & Record<string, unknown>;
  const original = (store[at] as (...args: unknown[]) => Promise<unknown>).bind(store);
  Object.assign(store, {
    [at]: async (...args: unknown[]) => {
      if (only(args[1])) throw new OracleError('SHUTTING_DOWN', 'killed');
      return original(...args);
    },
  });
  return store;
}

describe('exactly once', () => {
  it('two providers serve ten jobs concurrently with one price, delivery and ledger entry each', async () => {
    const [one, other] = [bench.makeParts(), bench.makeParts({ store: new JobStore(bench.database.db) })];
    const both = async () => {
      await Promise.all([bench.sweep(one), bench.sweep(other)]);
    };
    const sent = await bench.sent();
    const before = await buyer.coins(bench.provider);
    const jobs: bigint[] = [];
    for (let count = 0; count < 10; count++) jobs.push(await buyer.create());
    await both();
    for (const jobId of jobs) await buyer.fund(jobId, PRICE);
    await both();
    for (const jobId of jobs) expect(await submissionsOf(jobId)).toEqual([keccak256(stringToBytes(await delivered(jobId)))]);
    for (const jobId of jobs) await buyer.complete(jobId);
    await both();
    for (const jobId of jobs)
      expect(await booked(jobId)).toMatchObject({ offering: 'svc_bitcoin_signal', block: { hash: expect.any(String) }, isWatched: true });
    expect(await bench.sent()).toBe(sent + 20);
    expect((await buyer.coins(bench.provider)) - before).toBe(10n * PRICE);
  });

  it('a process killed between storing and submitting a delivery: the stored one is submitted', async () => {
    const jobId = await funded();
    const killed = bench.makeParts();
    const wallet = { ...killed.wallet, send: () => Promise.reject(new OracleError('SHUTTING_DOWN', 'killed')) };
    await bench.sweep({ ...killed, wallet }, 1);
    const { delivery } = await noted(jobId);
    expect(delivery).not.toBeNull();
    expect(await bench.store.findSubmittedDelivery(bench.contract, jobId)).toBeNull();

    const count = bench.composed.length;
    await bench.sweep(bench.makeParts());
    expect(await submissionsOf(jobId)).toEqual([delivery!.hash]);
    expect(bench.composed).toHaveLength(count);
  });

  it('a process killed between submitting and recording it: nothing is sent again', async () => {
    const jobId = await funded();
    await bench.sweep(bench.makeParts({ store: dyingStore('update', (facts) => 'submission' in (facts as object)) }), 1);
    expect(await noted(jobId)).toMatchObject({ submission: null });
    const sent = await bench.sent();
    await bench.sweep(bench.makeParts());
    expect(await submissionsOf(jobId)).toHaveLength(1);
    expect(await bench.sent()).toBe(sent);
    expect(await noted(jobId)).toMatchObject({ submission: { txHash: expect.stringMatching(/^0x/) } });
  });

  it('a process killed between the ledger entry and its update of the job: one entry', async () => {
    const jobId = await funded();
    await bench.sweep();
    await buyer.complete(jobId);
    await bench.sweep(bench.makeParts({ store: dyingStore('update', (facts) => 'payment' in (facts as object)) }), 1);
    expect(await noted(jobId)).toMatchObject({ payment: null });
    const entry = await booked(jobId);
    expect(entry).not.toBeNull();
    await bench.sweep(bench.makeParts());
    expect(await booked(jobId)).toEqual(entry);
    expect(await noted(jobId)).toMatchObject({ payment: { amountMicros: '1000000' }, due: null });
  });

  it.each(['recordEvents', 'moveCursor'] as const)('a process killed at %s: the events are read again', async (at) => {
    const jobId = await buyer.create();
    const killed = bench.makeParts({ store: dyingStore(at) });
    await expect(bench.sweep(killed, 1)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    const sent = await bench.sent();
    await bench.sweep(bench.makeParts());
    expect(await noted(jobId)).toMatchObject({ accepted: true });
    expect(await bench.sent()).toBe(sent + 1);
  });

  it('jobs completed in the same block are recorded with their own payments', async () => {
    const one = await funded();
    const first = buyer;
    buyer = await bench.newBuyer();
    const other = await funded({ description: 'svc_market_context' });
    await bench.sweep();
    await bench.local.automine(false);
    const done = Promise.all([first.complete(one), buyer.complete(other)]);
    await expect.poll(() => bench.local.rpc('txpool_status')).toMatchObject({ pending: '0x2' });
    await bench.local.mine();
    await bench.local.automine(true);
    const [{ blockNumber }, receipt] = await done;
    expect(receipt.blockNumber).toBe(blockNumber);
    await bench.sweep();
    expect([await booked(one), await booked(other)].map((entry) => Number(entry!.amountMicros))).toEqual([1_000_000, 250_000]);
    expect((await booked(one))!.txHash).not.toBe((await booked(other))!.txHash);
  });
});

describe('a job that fails', () => {
  it('does not block others, and continues when it can', async () => {
    const waiting = await accepted({ description: 'svc_crowd_vs_oracle' });
    const other = await accepted({ description: 'svc_market_context' });
    await buyer.fund(waiting, 500_000n);
    await buyer.fund(other, 250_000n);
    const compose: JobDeps['compose'] = async (offering, at) => {
      if (offering === 'svc_crowd_vs_oracle') throw new OracleError('STEP_WAITING', 'no forecast yet');
      return bench.parts.compose(offering, at);
    };
    const lines: string[] = [];
    const log = createLog({ level: 'warn', secrets: [], write: (line) => void lines.push(line) });
    const stuck = bench.makeParts({ compose, log });
    await bench.sweep(stuck);
    expect(await submissionsOf(other)).toHaveLength(1);
    expect(await noted(waiting)).toMatchObject({ failure: 'STEP_WAITING', delivery: null, accepted: true });
    bench.clock.aheadMs = 60_000;
    await bench.sweep(stuck);
    expect(lines.filter((line) => line.includes(`:${waiting}"`))).toHaveLength(1);

    bench.clock.aheadMs = 120_000;
    await bench.sweep();
    bench.clock.aheadMs = 0;
    expect(await submissionsOf(waiting)).toHaveLength(1);
    expect(await noted(waiting)).toMatchObject({ failure: null, failures: 0 });
  });

  it("because the node's logs lag behind its state is recorded later, and warns only after half a minute", async () => {
    const [client, judge] = [buyer, await bench.newBuyer()];
    const jobId = await funded({ evaluator: judge.address });
    await bench.sweep();
    await judge.complete(jobId);
    const lines: string[] = [];
    const log = createLog({ level: 'warn', secrets: [], write: (line) => void lines.push(line) });
    const getLogs = async (query: { event?: { name: string } }) =>
      query.event?.name === 'PaymentReleased' ? [] : bench.chain.client.getLogs(query as never);
    const chain = { ...bench.chain, client: { ...bench.chain.client, getLogs } } as unknown as JobDeps['chain'];
    const behind = bench.makeParts({ chain, log });
    for (let retry = 0; retry < 5; retry++) {
      bench.clock.aheadMs += 15_000;
      await bench.sweep(behind, 1);
    }
    expect(await noted(jobId)).toMatchObject({ failure: 'TRANSACTION_UNCONFIRMED', failures: 5, payment: null });
    expect(lines).toEqual([]);
    bench.clock.aheadMs += 15_000;
    await bench.sweep(behind, 1);
    expect(lines.filter((line) => line.includes(`:${jobId}"`))).toHaveLength(1);
    bench.clock.aheadMs += 15_000;
    await bench.sweep();
    bench.clock.aheadMs = 0;
    expect(await booked(jobId)).toMatchObject({ payer: client.address.toLowerCase() });
    expect(await noted(jobId)).toMatchObject({ failure: null, payment: { amountMicros: '1000000' } });
  });

  it('is not delivered within two minutes of its expiry', async () => {
    const jobId = await funded({ expiresInSeconds: 900 });
    const compose = () => Promise.reject(new OracleError('STEP_WAITING', 'no forecast yet'));
    await bench.sweep(bench.makeParts({ compose }));
    bench.clock.aheadMs = 781_000;
    await bench.sweep();
    bench.clock.aheadMs = 0;
    expect(await noted(jobId)).toMatchObject({ accepted: false, reason: expect.stringContaining('in time'), delivery: null });
  });
});

describe('watchJobs', () => {
  it('continues after failures, logs each kind once, and ends when the signal aborts', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', secrets: [], write: (line) => void lines.push(line) });
    let passes = 0;
    const stop = new AbortController();
    const failing = new JobStore(bench.database.db);
    failing.listDue = async () => {
      passes += 1;
      if (passes === 6) stop.abort();
      if (passes <= 3) throw new OracleError('CHAIN_UNREACHABLE', `the chain is away, attempt ${passes}`);
      return [];
    };
    await watchJobs(bench.makeParts({ store: failing, log }), 1, stop.signal);
    expect(passes).toBe(6);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'looking for agent commerce jobs failed; it goes on',
      'looking for agent commerce jobs works again',
    ]);
  });
});

describe('a reorganisation above the confirmation depth', () => {
  let deep: JobBench;
  beforeAll(async () => {
    deep = await jobBench(3);
  });
  afterAll(() => deep?.stop());

  it('has no effect', async () => {
    const [wrong, right] = [await deep.newBuyer(), await deep.newBuyer()];
    await deep.local.mine(3);
    const back = await deep.local.snapshot();
    const lost = await wrong.create({ description: 'nothing that is sold' });
    await deep.sweep();
    expect(await deep.store.find(deep.contract, lost)).toBeNull();
    await back();

    const jobId = await right.create();
    expect(jobId).toBe(lost);
    await deep.local.mine(2);
    await mining(deep, () => deep.sweep());
    expect(await deep.store.find(deep.contract, jobId)).toMatchObject({ accepted: true, onChain: { client: right.address.toLowerCase() } });
    await right.fund(jobId, PRICE);
    await deep.local.mine(2);
    await mining(deep, () => deep.sweep());

    await deep.local.mine(3);
    const undo = await deep.local.snapshot();
    await right.complete(jobId);
    await deep.sweep();
    await undo();
    await deep.local.mine(3);
    await deep.sweep();
    expect(await deep.ledger.payments.countDocuments()).toBe(0);
    await right.complete(jobId);
    await deep.local.mine(2);
    await deep.sweep();
    expect(await deep.ledger.payments.countDocuments()).toBe(1);
  });
});

/** Blocks go on while something waits for its transaction to be deep enough. */
async function mining<T>({ local }: JobBench, work: () => Promise<T>): Promise<T> {
  let over = false;
  const mine = async () => {
    // Each block is a second later than the one before: without a pause a slow machine moves the chain past the ends of jobs.
    while (!over) await local.mine().then(() => delay(25));
  };
  const blocks = mine();
  try {
    return await work();
  } finally {
    over = true;
    await blocks;
  }
}
