import { type Day, toDay } from '../../../../forecast/day.ts';
import type { DatedValue } from '../source.ts';

const FUNDINGS_PER_DAY = 3;

/**
 * Daily funding as a fraction per 8 h: the sum of a complete day's payments, of which there are more than three when the exchange uses
 * shorter intervals, divided by three. Future days are kept, so that validation rejects them.
 */
export function computeDailyFunding(fundings: { atMs: number; rate: number }[], nowMs: number): DatedValue[] {
  const byDay = new Map<Day, Map<number, number>>();
  for (const { atMs, rate } of fundings) {
    const day = toDay(atMs);
    byDay.set(day, (byDay.get(day) ?? new Map()).set(atMs, rate));
  }
  const today = toDay(nowMs);
  return [...byDay]
    .filter(([day, rates]) => day > today + 1 || (day < today && rates.size >= FUNDINGS_PER_DAY))
    .map(([day, rates]) => {
      const total = [...rates.values()].reduce((sum, rate) => sum + rate, 0);
      return { day, value: total / FUNDINGS_PER_DAY, providerAtMs: Math.max(...rates.keys()) };
    });
}
