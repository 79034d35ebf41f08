import type { Collection } from 'mongodb';
import { type Address, type Hex, type LocalAccount, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ChainOptions } from '../../../../src/chain/client.ts';
import { type Journal, type JournalRow, openJournal } from '../../../../src/chain/journal.ts';
import { createWallet, type Wallet, type WalletOptions } from '../../../../src/chain/wallet.ts';
import { fundGas } from '../../../../src/dev/local-chain/contracts.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

export type BenchWalletOptions = Partial<Omit<WalletOptions, 'chain'>> & { chain?: Partial<ChainOptions> };

/** A real chain and a real journal, and wallets on them. */
export interface WalletBench {
  chain: TestChain;
  database: TestDatabase;
  journal: Journal;
  rows: Collection<JournalRow>;
  /** A random key with gas money. */
  newAccount(): Promise<{ account: LocalAccount; key: Hex }>;
  wallet(account: LocalAccount, options?: BenchWalletOptions): Promise<Wallet>;
  /** Every transaction of an address that is mined, by nonce. */
  mined(address: Address): Promise<Hex[]>;
  balance(address: Address): Promise<bigint>;
  stop(): Promise<void>;
}

export async function startWalletBench(): Promise<WalletBench> {
  const [chain, database] = await Promise.all([testChain(), testDatabase()]);
  const journal = await openJournal(database.db);
  const rows = database.db.collection<JournalRow>('transactions');
  return {
    ...{ chain, database, journal, rows },
    newAccount: async () => {
      const key = generatePrivateKey();
      const account = privateKeyToAccount(key);
      await fundGas(chain.rpcUrl, [account.address]);
      return { account, key };
    },
    wallet: async (account, { chain: chainOptions, ...options } = {}) =>
      createWallet({ role: 'attester', chain: await chain.connect(chainOptions), journal, account, ...options }),
    mined: (address) => minedBy(chain, address),
    balance: async (address) => BigInt(await chain.rpc<Hex>('eth_getBalance', address, 'latest')),
    stop: async () => {
      await Promise.all([chain.stop(), database.drop()]);
    },
  };
}

/** An address nobody has used, to count effects by its balance. */
export function freshAddress(): Address {
  return privateKeyToAccount(generatePrivateKey()).address;
}

/** Resolves once `condition` holds; fails after five seconds. */
export async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 5_000; !(await condition()); ) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

async function minedBy({ rpc }: TestChain, address: Address): Promise<Hex[]> {
  const head = Number(await rpc<Hex>('eth_blockNumber'));
  const hashes: Hex[] = [];
  for (let number = 0; number <= head; number += 1) {
    const block = await rpc<{ transactions: { from: Address; hash: Hex }[] }>('eth_getBlockByNumber', numberToHex(number), true);
    const own = block.transactions.filter(({ from }) => from.toLowerCase() === address.toLowerCase());
    hashes.push(...own.map(({ hash }) => hash));
  }
  return hashes;
}
