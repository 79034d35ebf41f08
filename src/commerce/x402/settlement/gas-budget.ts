import type { GasBounds } from '../../../chain/tx/simulate.ts';

export interface GasBudget {
  /** US dollars per unit of the native currency; null when gas is free, as on a local chain. */
  currencyUsd: number | null;
  maxCents: number;
}

/** Three times a transfer signed by an EOA, to leave room for the signature check of a contract wallet. */
export const MAX_SETTLEMENT_GAS = 250_000n;
/** Besides the transfer, a proxy with its initial owners and the check of a passkey where the chain has no precompile for it. */
export const MAX_DEPLOYMENT_GAS = 750_000n;
const WEI_PER_MICRO_UNIT = 10n ** 12n;
const MICROS_PER_CENT = 10_000n;

/** A contract wallet's code may not cost more than the payment; an EOA's transfer has constant gas, bounded by the budget alone. */
export function getSettlementBounds(
  { currencyUsd, maxCents }: GasBudget,
  { amountMicros, isContract, isDeployed = true }: { amountMicros: bigint; isContract: boolean; isDeployed?: boolean },
): GasBounds {
  const budgetMicros = BigInt(maxCents) * MICROS_PER_CENT;
  const maxMicros = isContract && amountMicros < budgetMicros ? amountMicros : budgetMicros;
  const maxCostWei = currencyUsd === null ? null : (maxMicros * WEI_PER_MICRO_UNIT) / BigInt(currencyUsd);
  return { maxGas: isDeployed ? MAX_SETTLEMENT_GAS : MAX_DEPLOYMENT_GAS, maxCostWei, runsForeignCode: isContract };
}
