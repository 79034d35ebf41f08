import { toCents } from '../../record/forecast-doc.ts';
import { type PipelineContext, requireWindowOpened, type StepContext } from '../forecaster.ts';

/** Records the closes that outcomes are measured from. @throws OracleError PRICE_UNAVAILABLE while one is not settled */
export async function runOpenWindowStep({ record, market }: PipelineContext, context: StepContext): Promise<number> {
  const days = await record.listDaysToOpen(context.now);
  for (const day of days) {
    const opened = await requireWindowOpened(day, context);
    const { priceUsd } = await market.dailyClose(day, context.now.getTime());
    await record.recordOpeningClose(day, toCents(priceUsd), opened);
  }
  return days.length;
}
