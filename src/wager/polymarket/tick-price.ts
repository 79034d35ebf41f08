import { MICROS } from '../venue.ts';
import { computeFeeMicros, type FeeSchedule } from './fee.ts';

/** Price steps that the exchange has; every one is a whole number of ten-thousandths. */
export const TICK_SIZES = ['0.1', '0.01', '0.005', '0.0025', '0.001', '0.0001'] as const;
export type TickSize = (typeof TICK_SIZES)[number];

/** Prices are counted in ten-thousandths, so that no step is a fraction. */
export const PRICE_UNITS = 10_000;
const MICROS_PER_UNIT = MICROS / PRICE_UNITS;
/** The exchange takes no order at once whose price times size is not in whole cents. */
const UNITS_PER_CENT = 100;

/** Cost of a contract at a price in ten-thousandths, fee included, in micros. */
export function computeUnitCostMicros(priceUnits: number, fee: FeeSchedule): number {
  return priceUnits * MICROS_PER_UNIT + computeFeeMicros(fee, priceUnits / PRICE_UNITS);
}

/**
 * Highest price on the tick at which a contract costs no more than the limit, fee included. In ten-thousandths; null when even the
 * lowest price costs more.
 */
export function findHighestPrice(limitCostMicros: number, tickSize: TickSize, fee: FeeSchedule): number | null {
  const tick = Math.round(Number(tickSize) * PRICE_UNITS);
  const highest = Math.min(Math.floor(limitCostMicros / MICROS_PER_UNIT), PRICE_UNITS - tick);
  for (let price = Math.floor(highest / tick) * tick; price >= tick; price -= tick) {
    if (computeUnitCostMicros(price, fee) <= limitCostMicros) return price;
  }
  return null;
}

/** The most whole contracts, no more than given, that cost whole cents at a price in ten-thousandths. */
export function roundToWholeCentContracts(contracts: number, priceUnits: number): number {
  const step = UNITS_PER_CENT / greatestCommonDivisor(priceUnits, UNITS_PER_CENT);
  return Math.max(0, Math.floor(contracts / step) * step);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
