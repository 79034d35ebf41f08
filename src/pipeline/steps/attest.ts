import { type Day, formatDay } from '../../forecast/day.ts';
import { buildExpectedPrediction } from '../../record/commitment/expected-attestation.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';
import { requireStepDue } from '../schedule/step-times.ts';

/**
 * Attests every uncommitted day, oldest first, in one transaction per day; its block time decides whether the forecasts count. A rerun
 * finds the transaction by its key.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE, and as `TrustedTime.requireReached`; the step waits
 */
export async function runAttestStep(deps: PipelineDeps, context: StepContext): Promise<Day[]> {
  const days = await deps.record.listUnattestedDays();
  for (const day of days) await attestDay(deps, day, context);
  return days;
}

async function attestDay({ record, attester }: PipelineDeps, day: Day, context: StepContext): Promise<void> {
  const due = await requireStepDue('attest', day, context);
  const docs = await record.linkToPreviousDay(day);
  const references = await attester.attestPredictions(`attest:${formatDay(day)}`, docs.map(buildExpectedPrediction), due);
  await record.markAttested(docs, references);
}
