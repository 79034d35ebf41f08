import { toCents } from '../record/forecast.ts';
import type { PipelineParts, StepContext } from './parts.ts';

/**
 * Records the close at window open for every day whose window has opened: the price its outcomes are measured from.
 * @throws OracleError PRICE_UNAVAILABLE while a close is not settled; days before it are recorded by then.
 */
export async function openWindowStep({ record, market }: PipelineParts, { now }: StepContext): Promise<number> {
  const days = await record.daysToOpen(now);
  for (const day of days) {
    const { priceUsd } = await market.dailyClose(day, now.getTime());
    await record.openWindow(day, toCents(priceUsd));
  }
  return days.length;
}
