import { type Day, formatDay } from '../forecast/day.ts';
import { expectedPrediction } from '../record/expected.ts';
import type { PipelineParts } from './parts.ts';

/**
 * Commits every day that is not on chain yet, oldest first, each in one transaction; its block time decides whether the forecasts
 * count. Running again finds the transaction by its key.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE; the step waits.
 */
export async function attestStep(parts: PipelineParts): Promise<Day[]> {
  const days = await parts.record.unattestedDays();
  for (const day of days) await attestDay(parts, day);
  return days;
}

async function attestDay({ record, attester }: PipelineParts, day: Day): Promise<void> {
  const docs = await record.linkDay(day);
  const references = await attester.attestPredictions(`attest:${formatDay(day)}`, docs.map(expectedPrediction));
  await record.markAttested(docs, references);
}
