import type { Db } from 'mongodb';
import { PUBLIC_ROLES, readWalletFunds, type WalletFunds } from '../../chain/wallet-funds.ts';
import { createCache } from '../../platform/cache.ts';
import type { ComposedChain } from './chain.ts';

export interface ComposeWalletFundsDeps extends Pick<ComposedChain, 'chain' | 'wallets'> {
  db: Db;
  now(): Date;
}

/** What wallets have for gas: read once a minute, however often it is asked for. */
export function composeWalletFunds({ db, chain, wallets, now }: ComposeWalletFundsDeps): () => Promise<WalletFunds[]> {
  const roles = PUBLIC_ROLES.map((role) => ({ role, address: wallets[role].address }));
  const ofMinute = createCache<WalletFunds[]>('wallet-funds', 1);
  return () => ofMinute.get(Math.floor(now().getTime() / 60_000), () => readWalletFunds({ db, chain }, roles, now()));
}
