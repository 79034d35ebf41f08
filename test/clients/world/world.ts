import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, createWalletClient, erc20Abi, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type DemoFile, parseDemoFile } from '../../../src/dev/demo.ts';
import { connectMongo } from '../../../src/platform/mongo.ts';
import type { ForecastRecord } from '../../../src/record/forecasts.ts';
import { withSignal } from '../../support/commerce/payments.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { startService } from '../../support/service/running-service.ts';
import { openWire, type Wire } from '../wire/wire.ts';

/** A receipt of the service whose signature was checked, in units of the stablecoin. */
export interface Sale {
  txHash: Hex;
  units: bigint;
}

export interface Payer {
  /** Of the wallet, or of its owner. */
  privateKey: Hex;
  address: Address;
  /** Units that it was given. */
  funds: bigint;
}

/** A service of its own, reached through the wire, with what the runs have bought so far. */
export interface World {
  wire: Wire;
  dataDir: string;
  demo: DemoFile;
  /** Published JSON-RPC of the chain. */
  rpcUrl: string;
  seller: Address;
  sales: Sale[];
  /** All that have been funded. */
  payers: Payer[];
  /** Sends a wallet its `funds`. */
  fund(payer: Payer): Promise<void>;
  balanceOf(address: Address): Promise<bigint>;
  /** Lets the newest 7-day forecast be this signal meanwhile. */
  withSignal<T>(signal: 'BUY' | 'HOLD', work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-clients-'));
  const wire = await openWire();
  const service = await startService({ DATA_DIR: dataDir, REPLAY_DAYS: '4', LOG_LEVEL: 'warn', PUBLIC_URL: wire.url });
  wire.connect(service.url);
  const demo = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const mongo = await connectMongo(demo.mongodbUri!);
  const forecasts: ForecastRecord['forecasts'] = mongo.db.collection('forecasts');
  const info = await readJson<{ chain: { rpcUrl: string } }>(`${service.url}/api/svc/info`);
  const terms = await readJson<{ receipt: { signer: Address } }>(`${service.url}/.well-known/x402.json`);
  return {
    ...{ wire, dataDir, demo, sales: [], ...openChain(demo) },
    rpcUrl: info.chain.rpcUrl,
    seller: terms.receipt.signer,
    withSignal: (signal, work) => withSignal({ pipeline: { record: { forecasts } } }, signal, work),
    async close() {
      await mongo.close();
      service.child.kill('SIGTERM');
      await service.ended;
      await wire.close();
      await removeFolder(dataDir);
    },
  };
}

function openChain({ rpcUrl, contracts, wallets }: DemoFile): Pick<World, 'payers' | 'fund' | 'balanceOf'> {
  const account = privateKeyToAccount(wallets.buyer.privateKey);
  const chain = createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 20 }).extend(publicActions);
  const coin = { address: contracts.stablecoin, abi: erc20Abi } as const;
  const payers: Payer[] = [];
  return {
    payers,
    async fund(payer) {
      const args = [payer.address, payer.funds] as const;
      const hash = await chain.writeContract({ ...coin, functionName: 'transfer', args, chain: null });
      await chain.waitForTransactionReceipt({ hash });
      payers.push(payer);
    },
    balanceOf: (address) => chain.readContract({ ...coin, functionName: 'balanceOf', args: [address] }),
  };
}

async function readJson<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>;
}
