import { toCents } from '../record/forecast.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { reachWindow } from './times.ts';

/**
 * Records the close at window open for every day whose window has opened: the price its outcomes are measured from.
 * @throws OracleError PRICE_UNAVAILABLE while a close is not settled, and as `TrustedTime.reach`; days before it are recorded by then.
 */
export async function openWindowStep({ record, market }: PipelineParts, context: StepContext): Promise<number> {
  const days = await record.daysToOpen(context.now);
  for (const day of days) {
    const opened = await reachWindow(day, context);
    const { priceUsd } = await market.dailyClose(day, context.now.getTime());
    await record.openWindow(day, toCents(priceUsd), opened);
  }
  return days.length;
}
