import { getAddress } from 'viem';
import type { Tier } from '../caller.ts';
import type { GateReading, ReadGateBalance } from './gate-balance.ts';
import { GateBalanceCache } from './gate-balance-cache.ts';

export class WalletTiers {
  readonly #balances: GateBalanceCache;

  constructor(options: { readGate: ReadGateBalance; now(): Date }) {
    this.#balances = new GateBalanceCache(options);
  }

  /** From a reading at most a minute old. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async getTier(wallet: string): Promise<Tier> {
    return (await this.getBalance(wallet)).tier;
  }

  /** At most a minute old. @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  getBalance(wallet: string): Promise<GateReading> {
    return this.#balances.get(getAddress(wallet));
  }
}
