import type { GasBounds } from '../../../chain/tx/simulate.ts';

/** What the gas of settlements may cost. */
export interface GasBudget {
  /** Dollars that one unit of the chain's own currency is valued at; null: its gas is worth nothing, as on a local chain. */
  currencyUsd: number | null;
  /** Cents that settling one payment may cost at most. */
  maxCents: number;
}

/** A transfer that a key signed takes a third of it; the rest is for contract wallets that check a signature. */
const MAX_SETTLEMENT_GAS = 250_000n;

const WEI_PER_MICRO_UNIT = 10n ** 12n;
const MICROS_PER_CENT = 10_000n;

/**
 * Bounds of one settlement. Code of the payer's choice never costs more than what is paid; a transfer signed by a key always takes the
 * same gas, and is bounded by the budget alone.
 * @param amountMicros what is paid, in millionths of a dollar
 */
export function getSettlementBounds(
  { currencyUsd, maxCents }: GasBudget,
  { amountMicros, isContract }: { amountMicros: bigint; isContract: boolean },
): GasBounds {
  const budgetMicros = BigInt(maxCents) * MICROS_PER_CENT;
  const maxMicros = isContract && amountMicros < budgetMicros ? amountMicros : budgetMicros;
  const maxCostWei = currencyUsd === null ? null : (maxMicros * WEI_PER_MICRO_UNIT) / BigInt(currencyUsd);
  return { maxGas: MAX_SETTLEMENT_GAS, maxCostWei, runsForeignCode: isContract };
}
