import { getAddress } from 'viem';
import type { Tier } from '../caller.ts';
import type { ReadGateBalance } from './gate-balance.ts';
import { GateBalanceCache } from './gate-balance-cache.ts';

/** What wallets are worth while nobody is logged in with them: for what is sent to their owners. */
export class WalletTiers {
  readonly #balances: GateBalanceCache;

  constructor(options: { readGate: ReadGateBalance; now(): Date }) {
    this.#balances = new GateBalanceCache(options);
  }

  /** By a reading of the last minute. @throws OracleError CHAIN_UNREACHABLE when the last one is too old to go by */
  async getTier(wallet: string): Promise<Tier> {
    return (await this.#balances.get(getAddress(wallet))).tier;
  }
}
