import { computeProfitMicros } from '../../wager/accounts.ts';
import type { Side } from '../../wager/sizing.ts';
import { MICROS } from '../../wager/venue.ts';
import type { WagerDoc, WagerState } from '../../wager/wager-book.ts';
import { formatMicros, roundContractPrice } from './decimal.ts';

/** The service's own wager of a day. Amounts in micros of `asset`, and as exact decimals of it. */
export interface WagerView {
  venue: string;
  asset: string;
  state: WagerState;
  side: Side | null;
  contracts: number;
  /** Mean cost of a contract, fee included; null while nothing is bought. */
  price: number | null;
  stakeMicros: number;
  stake: string;
  payoutMicros: number | null;
  payout: string | null;
  /** What it gained or lost; 0 where nothing was staked, null until it is settled. */
  pnlMicros: number | null;
  pnl: string | null;
  /** Which side won the market. */
  winner: Side | null;
  placedAt: string | null;
  settledAt: string | null;
  skippedBecause: string | null;
}

export function viewWager(wager: WagerDoc): WagerView {
  const { venue, asset, state, side, contracts, costMicros, payoutMicros, winner, skippedBecause } = wager;
  const pnlMicros = computeProfitMicros(wager);
  return {
    ...{ venue, asset, state, side, contracts },
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
