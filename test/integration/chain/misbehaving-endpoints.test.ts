import { encodeFunctionData, keccak256, type LocalAccount, stringToHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requireKnownAttestations } from '../../../src/app/history.ts';
import { audit } from '../../../src/audit/audit.ts';
import type { Chain } from '../../../src/chain/client.ts';
import { createAttestationReader } from '../../../src/chain/eas/schemas.ts';
import { encodeFeedback, identityAbi } from '../../../src/chain/erc8004.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { CLIENT_FEEDBACK_INDEXES, ClientFeedbackStore, createClientFeedback } from '../../../src/commerce/feedback.ts';
import { JOB_INDEXES, JobStore } from '../../../src/commerce/jobs/job-store.ts';
import { reconcile } from '../../../src/commerce/reconcile.ts';
import { readSettlementStatus } from '../../../src/commerce/x402/settlement.ts';
import type { Authorization } from '../../../src/commerce/x402/terms.ts';
import { sendTransactions } from '../../../src/dev/local-chain/contracts.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { BROKEN_ENDPOINTS, type Breakage, behind, logsLack, openBrokenEndpoint } from '../../support/chain/broken-endpoint.ts';
import type { RpcProxy } from '../../support/chain/rpc-proxy.ts';
import { type JobBench, jobBench } from '../../support/commerce/job-bench.ts';
import { type JobClient, jobClient } from '../../support/commerce/job-client.ts';
import { signPayment, type TillBench, tillBench } from '../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { closeUsd, registerSchemas, type WrittenRecord, writeRecord } from '../../support/record/audit-record.ts';

let bench: JobBench;
let till: TillBench;
let buyer: JobClient;
let client: LocalAccount;
let record: WrittenRecord;
let authorization: Authorization;
/** What each reader says before the events of the last three blocks, and with them. */
const right: Record<string, unknown[]> = {};
const databases: TestDatabase[] = [];
const proxies: RpcProxy[] = [];

const AGENT_ID = 0;
/** More than one range of 2,000 blocks. */
const IDLE_BLOCKS = 2_100;
const LAG = 3;

beforeAll(async () => {
  bench = await jobBench();
  const { local, database, chain } = bench;
  till = await tillBench({ chain: local, db: database.db, connected: chain });
  client = await bench.newAccount();
  buyer = jobClient(
    { ...local, contract: bench.contract, stablecoin: local.addresses.stablecoin, provider: bench.provider },
    await bench.newAccount(),
  );
  const payment = await signPayment({ account: till.buyer, requirements: till.requirements });
  authorization = { ...payment.payload.authorization, value: BigInt(payment.payload.authorization.value) } as unknown as Authorization;
  await till.sales.sell(till.call(payment));
  const register = encodeFunctionData({ abi: identityAbi, functionName: 'register', args: ['data:,'] });
  await sendTransactions(local.rpcUrl, local.deployer, [{ to: local.addresses.identityRegistry, data: register }]);
  await happen();
  await registerSchemas(local);
  record = await writeRecord(local);
  await local.rpc('anvil_mine', `0x${IDLE_BLOCKS.toString(16)}`, '0x1');
  await noteRight();
  const head = await chain.client.getBlockNumber();
  await happen();
  expect((await chain.client.getBlockNumber()) - head).toBe(BigInt(LAG));
  await noteRight();
});
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.drop()));
  await bench?.stop();
});

/** A job, a feedback and a payment that nobody has asked for, each in a block. */
async function happen(): Promise<void> {
  const { local } = bench;
  await buyer.create({ description: 'junk' });
  const rating = {
    value: 80,
    valueDecimals: 0,
    tag1: 'starred',
    tag2: '',
    endpoint: '',
    feedbackUri: '',
    feedbackHash: keccak256(stringToHex('file')),
  };
  await sendTransactions(local.rpcUrl, client, [
    { to: local.addresses.reputationRegistry, data: encodeFeedback({ agentId: AGENT_ID, ...rating }) },
  ]);
  await till.mint(till.merchant.payee, 5n);
}

async function noteRight(): Promise<void> {
  for (const [name, open] of Object.entries(READERS)) {
    right[name] = [...(right[name] ?? []), await (await open()).read(bench.chain)];
  }
}

interface Reader {
  read(chain: Chain): Promise<unknown>;
}

async function newDatabase() {
  const database = await testDatabase();
  databases.push(database);
  await ensureIndexes(database.db, [...JOB_INDEXES, ...CLIENT_FEEDBACK_INDEXES]);
  return database.db;
}

async function openJobs() {
  const store = new JobStore(await newDatabase());
  return {
    async read(chain: Chain) {
      await bench.sweep(bench.makeParts({ chain, store }), 1);
      const jobs = await store.jobs.find().sort({ seenBlock: 1 }).toArray();
      const facts = jobs.map(({ jobId, seenBlock, lastEventBlock, accepted }) => ({ jobId, seenBlock, lastEventBlock, accepted }));
      return { through: await store.getCursor(bench.contract), jobs: facts };
    },
  };
}

async function openFeedback() {
  const store = new ClientFeedbackStore(await newDatabase());
  const facts = { agent: 'an agent', agentId: AGENT_ID, reporter: bench.provider, findFirstBlock: async () => 0 };
  return {
    async read(chain: Chain) {
      const feedback = createClientFeedback({ chain, store, ledger: till.ledger, ...facts });
      // A run is bounded: an endpoint of short ranges takes several.
      const head = Number(await chain.client.getBlockNumber());
      for (let run = 0; run < 30 && ((await feedback.findState())?.block ?? -1) < head; run += 1) await feedback.collect();
      const { block: through, unpaid } = (await feedback.findState())!;
      const kept = await feedback.list({ paid: false, limit: 10, before: null });
      return { through, unpaid, kept: kept.map(({ index, block, revoked }) => ({ index, block, revoked })) };
    },
  };
}

/** Everything that reads events. A reader with a cursor begins anew with each one that is opened. */
const READERS: Record<string, () => Promise<Reader>> = {
  jobs: openJobs,
  feedback: openFeedback,
  async reconcile() {
    const traces = { findReason: async () => null };
    const deps = { ledger: till.ledger, merchant: till.merchant, provider: bench.provider, traces, now: () => new Date() };
    return {
      async read(chain) {
        const { toBlock, receivedMicros, differences, unclaimed } = await reconcile({ ...deps, chain }, 0n);
        return { through: toBlock, receivedMicros, differences, unclaimed };
      },
    };
  },
  settlement: async () => ({ read: (chain) => readSettlementStatus(chain, till.merchant, { authorization, sinceBlock: 0 }) }),
  async 'known attestations'() {
    const journal = await openJournal(await newDatabase());
    return {
      // They are foreign to an empty journal.
      read: (chain) =>
        requireKnownAttestations({ chain, journal, attester: record.attester, isLocalChain: false, afterBlock: 0 }).catch((error) => {
          if (error.code !== 'CONFIG_INVALID') throw error;
          return error.message;
        }),
    };
  },
  attestations: async () => ({
    read: (chain) => createAttestationReader(chain).find({ schema: 'prediction', attester: record.attester, fromBlock: 0 }),
  }),
  audit: async () => ({
    async read(chain) {
      const prices = { source: 'the test', toleranceBps: 0, endsOn: null, closes, history: async () => null };
      const reading = await openAuditChain({ rpcUrl: String(chain.client.transport.url) });
      const { verdict, differences } = await audit({ chain: reading, attester: record.attester, prices, claims: null, now: record.now });
      return { verdict, differences };
    },
  }),
};

const closes = async (days: readonly number[]) => new Map(days.map((day) => [day, closeUsd(day)]));

async function connectTo(breakage: Breakage): Promise<Chain> {
  const proxy = await openBrokenEndpoint(bench.local.rpcUrl, breakage);
  proxies.push(proxy);
  return bench.local.connect({ rpcUrl: proxy.url });
}

describe.each(Object.entries(BROKEN_ENDPOINTS))('an endpoint that %s', (_, breakage) => {
  it.each(Object.keys(READERS))('gives %s what is right, or no usable answer', async (name) => {
    const reader = await READERS[name]!();
    const answer = await connectTo(breakage)
      .then(reader.read)
      .catch((error) => error);
    if (answer instanceof Error) expect(answer).toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    else expect(right[name]).toContainEqual(answer);
  });
});

describe('an endpoint that', () => {
  it.each([2_000, 500, 10])('takes ranges of %i blocks is read to the end', async (blocks) => {
    const chain = await connectTo(BROKEN_ENDPOINTS[`takes ranges of ${blocks === 2_000 ? '2,000' : (blocks as 500)} blocks`]);
    for (const [name, open] of Object.entries(READERS)) expect(await (await open()).read(chain), name).toEqual(right[name]!.at(-1));
  });

  it('has a node that is behind names the call, and hides nothing from the next run', async () => {
    for (const name of ['jobs', 'feedback']) {
      const reader = await READERS[name]!();
      await expect(reader.read(await connectTo(behind(LAG, true))), name).rejects.toMatchObject({
        code: 'CHAIN_UNREACHABLE',
        // Jobs read the block before, for its time.
        message: expect.stringContaining(name === 'jobs' ? 'eth_getBlockByNumber' : 'eth_getLogs'),
      });
      expect(await reader.read(bench.chain), name).toEqual(right[name]!.at(-1));
    }
  });

  it('has lacked events of the newest blocks hides them from the next run only', async () => {
    const head = Number(await bench.chain.client.getBlockNumber());
    for (const name of ['jobs', 'feedback']) {
      const reader = await READERS[name]!();
      const { through: _, ...before } = right[name]![0] as object & { through: unknown };
      expect(await reader.read(await connectTo(logsLack((block) => block > head - LAG))), name).toMatchObject({ ...before, through: head });
      const { through: __, ...after } = right[name]![1] as object & { through: unknown };
      const restore = await bench.local.snapshot();
      await bench.local.mine();
      expect(await reader.read(bench.chain), name).toMatchObject(after);
      // Read again, nothing counts twice.
      await bench.local.mine();
      expect(await reader.read(bench.chain), name).toMatchObject(after);
      await restore();
    }
  });
});

describe('a reorganisation', () => {
  it('takes its feedback out of the figures, and gives a job that it has moved another check', async () => {
    const { local, chain } = bench;
    const [jobs, feedback] = [await openJobs(), await openFeedback()];
    const undo = await local.snapshot();
    const before = await feedback.read(chain);
    await happen();
    const [taken] = (await jobs.read(chain)).jobs.slice(-1);
    expect((await feedback.read(chain)).unpaid.given).toBe(before.unpaid.given + 1);
    await undo();
    const undoAll = await local.snapshot();
    await local.mine(4);
    // The same job, in a later block.
    await buyer.create({ description: 'junk' });
    expect(await feedback.read(chain)).toMatchObject({ unpaid: before.unpaid, kept: before.kept });
    const [moved] = (await jobs.read(chain)).jobs.slice(-1);
    expect(moved).toMatchObject({ jobId: taken!.jobId, lastEventBlock: taken!.lastEventBlock + 4 });
    await undoAll();
  });
});
