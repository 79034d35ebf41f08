import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { withChainTimeout } from '../../chain/rpc/time-limit.ts';
import type { Journal } from '../../chain/tx/journal.ts';
import type { Wallet, WalletRole } from '../../chain/tx/wallet.ts';
import { readWalletFunds, type WalletFunds } from '../../chain/wallet-funds.ts';
import { createCache } from '../../platform/cache.ts';
import { orElse } from '../../platform/errors.ts';

export interface WalletState extends Pick<WalletFunds<WalletRole>, 'role' | 'balanceWei' | 'daysLeft'> {
  /** Of the next transaction by the newest block. */
  minedNonce: number;
  /** After the newest one in the journal; null where the service has signed none. */
  signedNonce: number | null;
}

export interface WalletFigures {
  gasPriceWei: bigint;
  /** Also the facilitator, whose address is not public. */
  roles: readonly WalletState[];
}

export interface WalletFiguresDeps {
  db: Db;
  chain: Chain;
  journal: Pick<Journal, 'findHighestNonce'>;
  wallets: Readonly<Record<string, Pick<Wallet, 'role' | 'address'> | null>>;
  now(): Date;
}

const READ_TIMEOUT_MS = 3_000;

/** Figures of the wallets, at most a minute old; null while the chain does not answer. */
export function createWalletFigures(deps: WalletFiguresDeps): () => Promise<WalletFigures | null> {
  const cache = createCache<WalletFigures>('wallet-figures', 1);
  return () => cache.get(Math.floor(deps.now().getTime() / 60_000), () => readWalletFigures(deps)).catch(orElse('CHAIN_UNREACHABLE', null));
}

async function readWalletFigures({ db, chain, journal, wallets, now }: WalletFiguresDeps): Promise<WalletFigures> {
  const present = Object.values(wallets).filter((wallet) => wallet !== null);
  const [funds, mined, gasPriceWei] = await Promise.all([
    readWalletFunds({ db, chain }, present, now()),
    readMinedNonces(chain, present),
    chainCall('Reading the price of gas', () => chain.client.getGasPrice()),
  ]);
  // After the chain: a transaction of the service is in the journal before it can be mined.
  const signed = await Promise.all(present.map(({ address }) => journal.findHighestNonce(chain.chainId, address)));
  const roles = funds.map(({ role, balanceWei, daysLeft }, index) => {
    const highest = signed[index] ?? null;
    return { role, balanceWei, daysLeft, minedNonce: mined[index]!, signedNonce: highest === null ? null : highest + 1 };
  });
  return { gasPriceWei, roles };
}

function readMinedNonces({ client }: Chain, wallets: readonly { address: Address }[]): Promise<number[]> {
  return withChainTimeout(READ_TIMEOUT_MS, 'Reading the nonces', () =>
    Promise.all(
      wallets.map(({ address }) => chainCall('Reading a nonce', () => client.getTransactionCount({ address, blockTag: 'latest' }))),
    ),
  );
}
