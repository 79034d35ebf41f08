import { toCents } from '../../record/forecast-doc.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';
import { requireWindowOpened } from '../schedule/step-times.ts';

/**
 * Records the close at window open, from which outcomes are measured.
 * @throws OracleError PRICE_UNAVAILABLE while a close is not settled, and as `TrustedTime.requireReached`; earlier days are recorded by
 * then
 */
export async function runOpenWindowStep({ record, market }: PipelineDeps, context: StepContext): Promise<number> {
  const days = await record.listDaysToOpen(context.now);
  for (const day of days) {
    const opened = await requireWindowOpened(day, context);
    const { priceUsd } = await market.dailyClose(day, context.now.getTime());
    await record.recordOpeningClose(day, toCents(priceUsd), opened);
  }
  return days.length;
}
