import type { Db } from 'mongodb';
import { type Address, type LocalAccount, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { REORG_MARGIN_BLOCKS } from '../../../src/chain/client.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { createWallet } from '../../../src/chain/wallet.ts';
import { DeliverySlot, JOB_INDEXES, JobStore } from '../../../src/commerce/jobs/job-store.ts';
import { type JobDeps, sweepJobs } from '../../../src/commerce/jobs/processing.ts';
import { COMMERCE_INDEXES, Ledger } from '../../../src/commerce/ledger.ts';
import { fundGas } from '../../../src/dev/local-chain/contracts.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { testChain } from '../chain/chain.ts';
import { testDatabase } from '../database/database.ts';
import { type JobClient, jobClient } from './job-client.ts';

/** A provider of jobs on a chain and a database of their own, with any number of buyers. */
export async function jobBench(confirmations = 1, openDatabase: () => Promise<{ db: Db; drop(): Promise<void> }> = testDatabase) {
  const [local, database] = await Promise.all([testChain(), openDatabase()]);
  const { db } = database;
  await ensureIndexes(db, [...JOB_INDEXES, ...COMMERCE_INDEXES]);
  const journal = await openJournal(db);
  const chain = await local.connect({ confirmations, pollingIntervalMs: 4 });
  const store = new JobStore(db);
  const turns = new DeliverySlot(db);
  const ledger = new Ledger(db);
  const contract = local.addresses.agentCommerce!;
  const provider = local.accounts.provider.address;
  const world = { rpcUrl: local.rpcUrl, contract, stablecoin: local.addresses.stablecoin, provider };
  const known: Address[] = [];
  /** Offset of the clock, to reach later due times. */
  const clock = { aheadMs: 0 };
  /** Composed documents in order, all different. */
  const composed: string[] = [];

  const makeWallet = () => createWallet({ chain, journal, role: 'provider', account: local.accounts.provider, timeoutMs: 5_000 });
  /** Another provider process. */
  const makeParts = (changes: Partial<JobDeps> = {}): JobDeps => ({
    ...{ chain, contract, wallet: makeWallet(), store, deliverySlot: turns, ledger },
    policy: { evaluators: known, maxMicros: 0n, unpaidPauseMs: 0, direct: null },
    compose: async (offering) => {
      composed.push(offering);
      return { document: { kind: offering, nonce: generatePrivateKey() }, forecastId: null, attestationUid: null };
    },
    log: createLog({ level: 'silent', secrets: [] }),
    time: { findDisagreement: async () => null },
    now: () => new Date(Date.now() + clock.aheadMs),
    ...changes,
  });
  const parts = makeParts();
  const newAccount = async (): Promise<LocalAccount> => {
    const account = privateKeyToAccount(generatePrivateKey());
    await fundGas(local.rpcUrl, [account.address]);
    return account;
  };

  return {
    ...{ local, database, chain, store, ledger, contract, provider, parts, makeParts, clock, composed, newAccount },
    /** Known as an evaluator, unless the policy says otherwise. */
    newBuyer: async (): Promise<JobClient> => {
      const buyer = jobClient(world, await newAccount());
      known.push(buyer.address);
      return buyer;
    },
    buyerOf: (account: LocalAccount) => jobClient(world, account),
    /** Sweeps until a job reaches its next state. */
    sweep: async (by: JobDeps = parts, times = 2) => {
      for (let pass = 0; pass < times; pass++) await sweepJobs(by);
    },
    /** Deletes all jobs, beyond the blocks that a sweep reads again. */
    forgetJobs: async () => {
      await local.rpc('anvil_mine', numberToHex(REORG_MARGIN_BLOCKS), '0x0');
      await Promise.all([store.jobs.deleteMany({}), turns.slots.deleteMany({})]);
      await store.cursors.updateMany({}, { $set: { block: Number(await chain.client.getBlockNumber()) } });
    },
    /** Number of transactions of the provider wallet. */
    sent: () => chain.client.getTransactionCount({ address: provider }),
    stop: async () => {
      await local.stop();
      await database.drop();
    },
  };
}

export type JobBench = Awaited<ReturnType<typeof jobBench>>;
