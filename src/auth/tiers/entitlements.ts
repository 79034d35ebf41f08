import type { Address } from 'viem';
import type { Caller } from '../caller.ts';
import type { GateReading, ReadGateBalance } from './gate-balance.ts';
import { GateBalanceCache } from './gate-balance-cache.ts';
import { lowerTier, type PaidTier } from './tiers.ts';

/** Stored credential of a wallet, with its upper bound and the last reading of the balance. */
export interface Entitled {
  wallet: Address;
  tier: PaidTier;
  gate: GateReading;
  gateReadAt: Date;
}

export interface GateReadingStore {
  saveGateReading(wallet: Address, gate: GateReading, gateReadAt: Date): Promise<void>;
}

export interface EntitlementsOptions {
  /** Where readings are stored for other processes. */
  stores: readonly GateReadingStore[];
  readGate: ReadGateBalance;
  now(): Date;
}

/** Current tier of credentials: at most their own, lower once the balance has fallen. */
export class Entitlements {
  readonly #balances: GateBalanceCache;

  constructor({ stores, readGate, now }: EntitlementsOptions) {
    this.#balances = new GateBalanceCache({
      readGate,
      async persist(wallet, { gate, readAt }) {
        await Promise.all(stores.map((store) => store.saveGateReading(wallet, gate, readAt)));
      },
      now,
    });
  }

  /** @throws OracleError CHAIN_UNREACHABLE when the last reading is too old */
  async get({ wallet, tier, gate, gateReadAt: readAt }: Entitled): Promise<Required<Pick<Caller, 'tier' | 'wallet' | 'balance'>>> {
    const current = await this.#balances.get(wallet, { gate, readAt });
    return { tier: lowerTier(tier, current.tier), wallet, balance: current.balance };
  }
}
