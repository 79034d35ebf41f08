import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RpcTransactionReceipt } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assembleService } from '../../../../src/app/assemble-service.ts';
import type { Service } from '../../../../src/app/service.ts';
import type { JournalRow } from '../../../../src/chain/tx/journal.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/json-rpc.ts';
import { loadConfig } from '../../../../src/platform/config/config.ts';
import { createLog, createLogCounts } from '../../../../src/platform/log.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';
import { createStartupProgress } from '../../../../src/platform/startup/startup-progress.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { runPastDay, type TestService, today } from '../../../support/service/service.ts';

const DAYS = 4;

let root: string;
let running: Service | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-lost-'));
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

const chainFolder = () => join(root, 'data', 'chain');

/** Two days; a copy of the chain's files; two more days, which the chain then no longer has. */
async function losePower(): Promise<Receipt[]> {
  const service = (await start()) as TestService;
  for (const day of [today() - DAYS, today() - DAYS + 1]) await runPastDay(service, day);
  const kept = join(root, 'kept');
  await cp(chainFolder(), kept, { recursive: true, filter: (path) => !/lock|anvil\.pid/.test(path) });
  for (const day of [today() - 2, today() - 1]) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  const receipts = await readReceipts(service);
  await stop();
  await rm(chainFolder(), { recursive: true });
  await cp(kept, chainFolder(), { recursive: true });
  return receipts;
}

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

describe('a local chain that is older than the database', () => {
  it('gets the transactions that it has lost, with the same attestations in blocks of the same numbers and times', async () => {
    const before = await losePower();
    const service = await start();
    const after = await readReceipts(service);
    expect(after.map(toEffect)).toEqual(before.map(toEffect));
    expect(after.length).toBeGreaterThan(2 * DAYS);
    expect(await service.pipeline.time.findDisagreement()).toBeNull();
  });

  it('is rejected with the command that resets the folder when it is not of this record', async () => {
    await losePower();
    await rm(chainFolder(), { recursive: true });
    await mkdir(chainFolder());
    await expect(start()).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      suggestedAction: expect.stringContaining(`DATA_DIR=${join(root, 'data')} npm run reset`),
    });
  });
});
