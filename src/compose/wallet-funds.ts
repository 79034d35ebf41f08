import type { Db } from 'mongodb';
import { readWalletFunds, TOLD_ROLES, type WalletFunds } from '../chain/wallet-funds.ts';
import { createCache } from '../market/cache.ts';
import type { ComposedChain } from './chain.ts';

export interface WalletFundsComposition extends Pick<ComposedChain, 'chain' | 'wallets'> {
  db: Db;
  now(): Date;
}

/** What wallets have for gas: read once a minute, however often it is asked for. */
export function composeWalletFunds({ db, chain, wallets, now }: WalletFundsComposition): () => Promise<WalletFunds[]> {
  const told = TOLD_ROLES.map((role) => ({ role, address: wallets[role].address }));
  const ofMinute = createCache<WalletFunds[]>('wallet-funds', 1);
  return () => ofMinute.get(Math.floor(now().getTime() / 60_000), () => readWalletFunds({ db, chain }, told, now()));
}
