import { MICROS } from '../venue.ts';
import { computeFeeMicros, type FeeSchedule } from './fee.ts';

/** Price steps of the exchange, whole multiples of 1/10,000. */
export const TICK_SIZES = ['0.1', '0.01', '0.005', '0.0025', '0.001', '0.0001'] as const;
export type TickSize = (typeof TICK_SIZES)[number];
/** Price units per dollar: every step is a whole number of 1/10,000. */
export const PRICE_UNITS = 10_000;
const MICROS_PER_UNIT = MICROS / PRICE_UNITS;
/** The exchange rejects immediate orders whose price times size is not in whole cents. */
const UNITS_PER_CENT = 100;

/** Cost of a contract in micros, fee included. */
export function computeUnitCostMicros(priceUnits: number, fee: FeeSchedule): number {
  return priceUnits * MICROS_PER_UNIT + computeFeeMicros(fee, priceUnits / PRICE_UNITS);
}

/** Highest price on the tick within the cost limit, fee included, in price units; null when the lowest price exceeds it. */
export function findHighestPrice(limitCostMicros: number, tickSize: TickSize, fee: FeeSchedule): number | null {
  const tick = Math.round(Number(tickSize) * PRICE_UNITS);
  const highest = Math.min(Math.floor(limitCostMicros / MICROS_PER_UNIT), PRICE_UNITS - tick);
  for (let price = Math.floor(highest / tick) * tick; price >= tick; price -= tick) {
    if (computeUnitCostMicros(price, fee) <= limitCostMicros) return price;
  }
  return null;
}

/** Maximum number of contracts, up to `contracts`, that cost whole cents at a price. */
export function roundToWholeCentContracts(contracts: number, priceUnits: number): number {
  const step = UNITS_PER_CENT / greatestCommonDivisor(priceUnits, UNITS_PER_CENT);
  return Math.max(0, Math.floor(contracts / step) * step);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
