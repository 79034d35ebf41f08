import { type Day, toDay } from '../../../../forecast/day.ts';
import type { DatedValue } from '../source.ts';

/** One payment between longs and shorts, as a fraction of the position. */
export interface FundingPayment {
  atMs: number;
  rate: number;
}

const FUNDINGS_PER_DAY = 3;

/**
 * The mean funding of each complete day, as a fraction per 8 h. A day has three fundings; where the exchange has gone over to
 * shorter spans it has more, and they add up. Days in the future are kept for the reader to find fault with.
 */
export function computeDailyFunding(fundings: FundingPayment[], nowMs: number): DatedValue[] {
  const byDay = new Map<Day, Map<number, number>>();
  for (const { atMs, rate } of fundings) {
    const day = toDay(atMs);
    byDay.set(day, (byDay.get(day) ?? new Map()).set(atMs, rate));
  }
  const today = toDay(nowMs);
  return [...byDay]
    .filter(([day, rates]) => day > today + 1 || (day < today && rates.size >= FUNDINGS_PER_DAY))
    .map(([day, rates]) => ({ day, value: sumRates(rates.values()) / FUNDINGS_PER_DAY, providerAtMs: Math.max(...rates.keys()) }));
}

function sumRates(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
