import type { Observations } from '../../series/observations.ts';

const DAYS_PER_YEAR = 365;

/** Sample deviation of the last `days` daily log returns, as percent a year; null with fewer of them. */
export function computeRealizedVolatilityPct({ values }: Observations, days: number): number | null {
  if (values.length <= days) return null;
  const closes = values.subarray(-days - 1);
  const returns = Array.from(closes.subarray(1), (close, index) => Math.log(close / closes[index]));
  const mean = returns.reduce((sum, value) => sum + value, 0) / days;
  const variance = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (days - 1);
  return 100 * Math.sqrt(variance * DAYS_PER_YEAR);
}
