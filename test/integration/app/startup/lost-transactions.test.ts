import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { numberToHex, type RpcTransactionReceipt, zeroAddress } from 'viem';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { assembleService, type Service } from '../../../../src/app/app.ts';
import { restoreLostTransactions } from '../../../../src/app/history.ts';
import { createChain } from '../../../../src/chain/client.ts';
import { createJournal, type JournalRow } from '../../../../src/chain/journal.ts';
import { loadConfig } from '../../../../src/config.ts';
import { startEmbeddedMongo } from '../../../../src/dev/embedded-mongo.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/contracts.ts';
import { createLog, createLogCounts } from '../../../../src/platform/log.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';
import { createStartupProgress } from '../../../../src/platform/progress.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';
import { type Interference, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { ENGINE_CACHE, linkEngineCache } from '../../../support/database/engine.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { runPastDay, type TestService, today } from '../../../support/service/service.ts';

const DAYS = 4;

let root: string;
let running: Service | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-lost-'));
  await mkdir(join(root, 'data'), { mode: 0o700 });
  await linkEngineCache(join(root, 'data'));
});
afterEach(async () => {
  await stop();
  await removeFolder(root);
});

async function start(): Promise<Service> {
  const config = loadConfig({ DATA_DIR: join(root, 'data'), FEEDS: 'simulated', REPLAY_DAYS: String(DAYS) });
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  try {
    running = await assembleService(
      { config, log, logCounts: createLogCounts(), shutdown, progress: createStartupProgress() },
      'http://127.0.0.1:3000',
    );
    return running;
  } catch (error) {
    await shutdown.stop('it failed');
    throw error;
  }
}

async function stop(): Promise<void> {
  await running?.shutdown.stop('the test goes on');
  running = undefined;
}

const readDemo = async () => JSON.parse(await readFile(join(root, 'data', 'demo.json'), 'utf8'));
const chainFolder = () => join(root, 'data', 'chain');

/** Two days; a copy of the chain's files; two more days, which the chain then no longer has, as after a kill. */
async function loseBlocks(change: (service: Service) => Promise<unknown> = async () => {}): Promise<Receipt[]> {
  const service = (await start()) as TestService;
  for (const day of [today() - DAYS, today() - DAYS + 1]) await runPastDay(service, day);
  const kept = join(root, 'kept');
  await cp(chainFolder(), kept, { recursive: true, filter: (path) => !/lock|anvil\.pid/.test(path) });
  for (const day of [today() - 2, today() - 1]) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  const receipts = await readReceipts(service);
  await change(service);
  await stop();
  await rm(chainFolder(), { recursive: true });
  await cp(kept, chainFolder(), { recursive: true });
  return receipts;
}

const transactions = ({ database }: Service) => database.db.collection<JournalRow>('transactions');

/** As of transactions that were found mined; like them, one that needs another wallet's cannot be sent again. */
const forgetSignatures = (service: Service) => transactions(service).updateMany({}, { $set: { 'attempts.$[].raw': '0x' } });

/** Of all transactions of the journal, by the chain. */
async function readReceipts({ database, infrastructure }: Service): Promise<Receipt[]> {
  const rows = await database.db.collection<JournalRow>('transactions').find().sort({ 'receipt.blockNumber': 1 }).toArray();
  return Promise.all(rows.map(({ receipt }) => callJsonRpc<Receipt>(infrastructure.rpcUrl, 'eth_getTransactionReceipt', receipt!.hash)));
}

type Receipt = Pick<RpcTransactionReceipt, 'transactionHash' | 'blockNumber' | 'status' | 'logs'>;

/** The log of an attestation has its uid. */
function toEffect({ transactionHash, blockNumber, status, logs }: Receipt) {
  return { transactionHash, blockNumber, status, logs: logs.map(({ address, topics, data }) => ({ address, topics, data })) };
}

/** Of the service while it does not run. */
async function inDatabase(change: (db: Db) => Promise<unknown>): Promise<void> {
  const engine = await startEmbeddedMongo({ dbPath: join(root, 'data', 'database'), cacheDir: ENGINE_CACHE });
  const { db, close } = await connectMongo(engine.uri);
  await change(db);
  await close();
  await engine.stop();
}

const MORE_THAN_THE_DEMONSTRATION: [string, (db: Db) => Promise<unknown>, (db: Db) => Promise<unknown>][] = [
  [
    'transactions of other keys',
    (db) => db.collection('transactions').updateOne({ role: 'attester' }, [{ $set: { kept: '$address', address: zeroAddress } }]),
    (db) => db.collection('transactions').updateOne({ kept: { $exists: true } }, [{ $set: { address: '$kept' } }, { $unset: 'kept' }]),
  ],
  [
    'transactions of another chain',
    async (db) => {
      const row = (await db.collection<JournalRow>('transactions').findOne({ role: 'attester' }))!;
      await db.collection<JournalRow>('transactions').insertOne({ ...row, _id: '8453:attester:other', chainId: 8453 });
    },
    (db) => db.collection('transactions').deleteOne({ chainId: 8453 }),
  ],
  [
    'orders of an exchange',
    (db) => db.collection('polymarket_orders').insertOne({ venue: 'polymarket', state: 'FILLED' }),
    (db) => db.collection('polymarket_orders').deleteMany({}),
  ],
];

describe('a local chain that is older than the database', () => {
  it('gets the transactions that it has lost, with the same attestations in blocks of the same numbers and times', async () => {
    const before = await loseBlocks();
    const service = await start();
    const after = await readReceipts(service);
    expect(after.map(toEffect)).toEqual(before.map(toEffect));
    expect(after.length).toBeGreaterThan(2 * DAYS);
    expect(await service.pipeline.time.findDisagreement()).toBeNull();
  });

  it('gets them from its first block on when it has saved nothing', async () => {
    const before = await loseBlocks();
    await rm(chainFolder(), { recursive: true });
    await mkdir(chainFolder());
    expect((await readReceipts(await start())).map(toEffect)).toEqual(before.map(toEffect));
  });

  it('that cannot get them begins a demonstration anew, with the same keys, wallets and contracts, and says so', async () => {
    await loseBlocks(forgetSignatures);
    const demo = await readDemo();
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const service = await start();
    const notices = written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('begins anew'));
    written.mockRestore();
    expect(notices).toEqual([
      expect.stringMatching(/^The chain of \S+ was killed before .*: the demonstration begins anew, with the same keys\.\n$/),
    ]);
    const { db } = service.database;
    expect(await db.collection('forecasts').countDocuments()).toBe(0);
    const begun = await readDemo();
    expect([begun.wallets, begun.contracts]).toEqual([demo.wallets, demo.contracts]);
    for (const day of [today() - DAYS, today() - DAYS + 1]) await runPastDay(service as TestService, day);
    expect((await readReceipts(service)).every((receipt) => receipt.status === '0x1')).toBe(true);
    const { buyer } = begun.wallets;
    expect(Number(await callJsonRpc(service.infrastructure.rpcUrl, 'eth_getBalance', buyer.address, 'latest'))).toBeGreaterThan(0);
    await stop();
    const again = await start();
    expect(await again.database.db.collection('days').countDocuments()).toBe(2);
  });

  it('keeps a database that has more than the demonstration, and is rejected with the command that resets the folder', async () => {
    await loseBlocks(forgetSignatures);
    for (const [what, change, undo] of MORE_THAN_THE_DEMONSTRATION) {
      await inDatabase(change);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(start(), what).rejects.toMatchObject({
          code: 'DATA_DIR_DAMAGED',
          suggestedAction: expect.stringContaining(`DATA_DIR=${join(root, 'data')} npm run reset`),
        });
      }
      await inDatabase(undo);
    }
  });

  it.each<[string, Interference, 'rejects' | 'resolves', string]>([
    ['is not lost because the node gives no answer', 'drop', 'rejects', 'CHAIN_UNREACHABLE'],
    [
      'is lost when the node rejects a transaction',
      { error: { code: -32_003, message: 'nonce too high' } },
      'resolves',
      'DATA_DIR_DAMAGED',
    ],
  ])('%s', async (_what, sent, outcome, code) => {
    const service = (await start()) as TestService;
    await runPastDay(service, today() - DAYS);
    const { hash, blockNumber } = (await transactions(service).find({ state: 'CONFIRMED' }).sort({ 'receipt.blockNumber': -1 }).next())!
      .receipt!;
    const proxy = await rpcProxy(service.infrastructure.rpcUrl, {
      onRequest: ({ method, params }) => {
        if (method === 'eth_sendRawTransaction') return sent;
        if (method === 'eth_blockNumber') return { result: numberToHex(blockNumber - 1) };
        return method === 'eth_getTransactionReceipt' && params[0] === hash ? { result: null } : undefined;
      },
    });
    const { chainId } = service.chain;
    const { contracts: addresses } = service.infrastructure;
    const chain = await createChain({ rpcUrl: proxy.url, chainId, addresses, confirmations: 1, pollingIntervalMs: 50 });
    const localChain = { setNextBlockTime: async () => {}, syncToWallClock: async () => {} };
    const restored = restoreLostTransactions({ chain, journal: createJournal(service.database.db), localChain });
    await expect(restored)[outcome].toMatchObject({ code });
    await proxy.close();
  });
});
