import { type Address, formatUnits } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { readConfirmedGateBalance, readGateDecimals } from '../../chain/gate-token.ts';
import { withChainTimeout } from '../../chain/rpc/time-limit.ts';
import type { Tier } from '../caller.ts';
import { toTier } from './tiers.ts';

export interface GateReading {
  tier: Tier;
  /** Whole gate tokens as an exact decimal. */
  balance: string;
  blockNumber: number;
}

/** Reads the gate balance of a wallet. @throws OracleError CHAIN_UNREACHABLE, after three seconds at most */
export type ReadGateBalance = (wallet: Address) => Promise<GateReading>;

export const GATE_READ_TIMEOUT_MS = 3_000;

export function createGateReader(chain: Chain): ReadGateBalance {
  let knownDecimals: number | undefined;

  async function read(wallet: Address): Promise<GateReading> {
    knownDecimals ??= await readGateDecimals(chain);
    const { balance, blockNumber } = await readConfirmedGateBalance(chain, wallet);
    return { tier: toTier(balance, knownDecimals), balance: formatUnits(balance, knownDecimals), blockNumber };
  }

  return (wallet) => withChainTimeout(GATE_READ_TIMEOUT_MS, 'Reading the gate balance', () => read(wallet));
}
