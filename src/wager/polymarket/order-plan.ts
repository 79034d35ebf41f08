import { OracleError } from '../../platform/errors.ts';
import { MICROS, type VenueOrder } from '../venue.ts';
import type { MarketTradingTerms, OrderBook } from './api/market-data-client.ts';
import type { FeeSchedule } from './fee.ts';
import { computeUnitCostMicros, findHighestPrice, roundToWholeCentContracts, type TickSize } from './tick-price.ts';

export interface OrderPlan {
  tokenId: string;
  /** Limit price on the tick, in 1/10,000. */
  priceUnits: number;
  contracts: number;
  /** Maximum total cost, fee included, in micros. */
  maxCostMicros: number;
  tickSize: TickSize;
  negRisk: boolean;
  fee: FeeSchedule;
}

/** Caps on one wager and on all open ones, the cost of open ones, and the available cash, in micros. */
interface SpendingLimits {
  maxStakeMicros: number;
  maxOpenMicros: number;
  openMicros: number;
  cashMicros: number;
}

/** Prices and sizes an order within the limits. @throws OracleError VENUE_REJECTED when no order remains that the exchange accepts */
export function planOrder(order: VenueOrder, { tokens, fee }: MarketTradingTerms, book: OrderBook, limits: SpendingLimits): OrderPlan {
  const { tickSize, minOrderSize, negRisk } = book;
  const priceUnits = findHighestPrice(order.limitCostMicros, tickSize, fee);
  if (priceUnits === null) throw venueRejectedError(`the limit of ${order.limitCostMicros} micros is below the lowest price`);
  const unitCost = computeUnitCostMicros(priceUnits, fee);
  const [spendable, because] = findTightestLimit(limits);
  const wanted = Math.min(order.contracts, Math.floor(Math.max(0, spendable) / unitCost));
  const contracts = roundToWholeCentContracts(wanted, priceUnits);
  if (contracts === 0 || contracts < minOrderSize) {
    const reason = wanted < order.contracts ? ` (${because} leaves ${spendable} micros)` : '';
    throw venueRejectedError(`${contracts} contracts are below the minimum order of ${minOrderSize}${reason}`);
  }
  return { tokenId: tokens[order.side], priceUnits, contracts, maxCostMicros: contracts * unitCost, tickSize, negRisk, fee };
}

function findTightestLimit({ maxStakeMicros, maxOpenMicros, openMicros, cashMicros }: SpendingLimits): [number, string] {
  const limits: [number, string][] = [
    [maxStakeMicros, `the cap of $${maxStakeMicros / MICROS} on one wager`],
    [maxOpenMicros - openMicros, `the cap of $${maxOpenMicros / MICROS} on open wagers`],
    [cashMicros, 'the account'],
  ];
  return limits.reduce((least, limit) => (limit[0] < least[0] ? limit : least));
}

export function venueRejectedError(reason: string): OracleError {
  return new OracleError('VENUE_REJECTED', `Polymarket: ${reason}`);
}
