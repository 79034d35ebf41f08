import { expect } from 'vitest';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs } from '../../../src/pipeline/forecaster.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { attestedOnChain, runCommand, type TestService, today } from './service.ts';

/** Steps that are not due before their time of the day. */
const isNotDue = (step: StepName) => step === 'brief' && Date.now() < getStepDueMs('brief', today());

/**
 * Runs each step of today, one after the other, by two processes at the same time, and sees that each had its effect once. The service
 * has forecasts to resolve, and none of today.
 */
export async function expectOneEffect(service: TestService, steps: readonly StepName[]): Promise<void> {
  const { record, wagers, venue } = service.pipeline;
  const due = await record.listDueForResolution(new Date());
  const before = await attestedOnChain(service, 'prediction');
  for (const step of steps) {
    const words = step === 'signal' ? [step, '--early'] : [step];
    const runs = await Promise.all([runCommand(service, words).ended, runCommand(service, words).ended]);
    for (const run of runs) expect(run, step).toMatchObject({ code: isNotDue(step) ? 3 : 0 });
  }
  expect(await attestedOnChain(service, 'prediction')).toBe(before + HORIZONS.length);
  expect(await attestedOnChain(service, 'resolution')).toBe(due.length);
  expect(await wagers.findByDay(today())).not.toBeNull();
  const reported = await wagers.wagers.find({ feedbackTxHash: { $ne: null } }).toArray();
  expect((await service.http.reputation())!.total).toBe(reported.length);
  const placed = await wagers.wagers.find({ state: 'PLACED' }).toArray();
  expect((await venue.getAccount()).openMicros).toBe(placed.reduce((sum, { costMicros }) => sum + costMicros, 0));
}
