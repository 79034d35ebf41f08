import { type Day, formatDay } from '../../forecast/day.ts';
import { buildExpectedPrediction } from '../../record/commitment.ts';
import { getStepDueMs, type PipelineContext, requireStepDue, type StepContext } from '../forecaster.ts';

/** One transaction per day, oldest first; a rerun finds it by its key. @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE */
export async function runAttestStep(deps: PipelineContext, context: StepContext): Promise<Day[]> {
  const unattested = await deps.record.listUnattestedDays();
  // A replay makes the next day's forecast before the outcomes of a day are complete.
  const days = context.replayed ? unattested.filter((day) => getStepDueMs('attest', day) <= context.now.getTime()) : unattested;
  for (const day of days) await attestDay(deps, day, context);
  return days;
}

async function attestDay({ record, attester }: PipelineContext, day: Day, context: StepContext): Promise<void> {
  const due = await requireStepDue('attest', day, context);
  const docs = await record.linkToPreviousDay(day);
  const references = await attester.attestPredictions(`attest:${formatDay(day)}`, docs.map(buildExpectedPrediction), due);
  await record.markAttested(docs, references);
}
