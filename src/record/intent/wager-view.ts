import { computeProfitMicros } from '../../wager/accounts.ts';
import { MICROS } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { formatMicros, roundContractPrice } from './decimal.ts';

/** The service's own wager of a day. Amounts in micros of `asset`, and as exact decimals of it. */
export function viewWager(wager: WagerDoc) {
  const { venue, asset, state, side, contracts, costMicros, payoutMicros, winner, skippedBecause } = wager;
  const pnlMicros = computeProfitMicros(wager);
  return {
    venue,
    asset,
    state,
    side,
    contracts,
    // Mean cost of a contract, fee included.
    price: costMicros > 0 ? roundContractPrice(costMicros / contracts / MICROS) : null,
    stakeMicros: costMicros,
    stake: formatMicros(costMicros),
    payoutMicros,
    payout: payoutMicros === null ? null : formatMicros(payoutMicros),
    pnlMicros,
    pnl: pnlMicros === null ? null : formatMicros(pnlMicros),
    winner,
    placedAt: wager.placedAt?.toISOString() ?? null,
    settledAt: wager.settledAt?.toISOString() ?? null,
    skippedBecause,
  };
}
