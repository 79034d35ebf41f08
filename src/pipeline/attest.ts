import { type Day, formatDay } from '../forecast/day.ts';
import { expectedPrediction } from '../record/expected.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { reachDue } from './times.ts';

/**
 * Commits every day that is not on chain yet, oldest first, each in one transaction; its block time decides whether the forecasts
 * count. Running again finds the transaction by its key.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, and as `TrustedTime.reach`; the step waits.
 */
export async function attestStep(parts: PipelineParts, context: StepContext): Promise<Day[]> {
  const days = await parts.record.unattestedDays();
  for (const day of days) await attestDay(parts, day, context);
  return days;
}

async function attestDay({ record, attester }: PipelineParts, day: Day, context: StepContext): Promise<void> {
  const due = await reachDue('attest', day, context);
  const docs = await record.linkDay(day);
  const references = await attester.attestPredictions(`attest:${formatDay(day)}`, docs.map(expectedPrediction), due);
  await record.markAttested(docs, references);
}
