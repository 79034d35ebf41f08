import type { Address } from 'viem';
import { confirmedGateBalance, gateDecimals } from '../chain/balances.ts';
import type { Chain } from '../chain/client.ts';
import { withinTime } from '../chain/time-limit.ts';
import type { Tier } from '../record/caller.ts';
import { tierOf, wholeTokens } from './tiers.ts';

/** What the chain says of a wallet. */
export interface GateReading {
  tier: Tier;
  /** Whole gate tokens, an exact decimal. */
  balance: string;
  blockNumber: number;
}

/** Reads the gate balance of a wallet. @throws OracleError CHAIN_UNREACHABLE, at the latest after three seconds */
export type ReadGate = (wallet: Address) => Promise<GateReading>;

/** Whoever waits for the chain is told after this time that it does not answer. */
export const CHAIN_LIMIT_MS = 3_000;

export function createGate(chain: Chain): ReadGate {
  let knownDecimals: number | undefined;

  async function read(wallet: Address): Promise<GateReading> {
    knownDecimals ??= await gateDecimals(chain);
    const { balance, blockNumber } = await confirmedGateBalance(chain, wallet);
    return { tier: tierOf(balance, knownDecimals), balance: wholeTokens(balance, knownDecimals), blockNumber };
  }

  return (wallet) => withinTime(CHAIN_LIMIT_MS, 'Reading the gate balance', () => read(wallet));
}
