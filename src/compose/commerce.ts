import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { Chain } from '../chain/client.ts';
import { CLOSED_CHANNELS } from '../commerce/channel.ts';
import type { Commerce } from '../commerce/commerce.ts';
import { Ledger } from '../commerce/ledger.ts';

export interface CommerceComposition {
  db: Db;
  chain: Pick<Chain, 'chainId' | 'addresses'>;
  /** Wallet that payments go to; unset: none are taken. */
  payee: Address | undefined;
  /** False on a local chain. */
  realMoney: boolean;
}

/** What is sold and what was earned with it. */
export function composeCommerce({ db, chain: { chainId, addresses }, payee, realMoney }: CommerceComposition): Commerce {
  return { ledger: new Ledger(db), closed: CLOSED_CHANNELS, payee: payee ?? null, asset: addresses.stablecoin, chainId, realMoney };
}
