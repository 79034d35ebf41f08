import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatDay } from '../../../src/forecast/day.ts';
import { getStepDueMs } from '../../../src/pipeline/forecaster.ts';
import { runStepManually, STEP_NAMES } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const day = today() - 1;
let service: TestService;

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, day - 1, ['open-window']);
});
afterAll(() => service.stop());

const byHand = (step: StepName, nowMs: number, of?: number) =>
  runStepManually({ ...service.pipeline, time: timeAt(nowMs) }, { step, day: of, now: new Date(nowMs) });
const runs = () => service.database.db.collection('step_runs').find({}).sort({ _id: 1 }).toArray();

describe('a step run manually', () => {
  it.each([
    ['signal', getStepDueMs('signal', day) - 1, getStepDueMs('signal', day)],
    ['wager', getStepDueMs('wager', day) - 1, getStepDueMs('wager', day)],
    ['brief', getStepDueMs('brief', day) - 1, getStepDueMs('brief', day)],
    ['attest', getStepDueMs('signal', day), getStepDueMs('attest', day)],
    ['attest', getStepDueMs('attest', day) - 1, getStepDueMs('attest', day)],
  ] as const)('is rejected before its time: %s at %d', async (step, nowMs, dueMs) => {
    const before = await runs();
    await expect(byHand(step, nowMs)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(formatDay(day)),
      details: { dueAt: new Date(dueMs).toISOString() },
    });
    expect(await runs()).toEqual(before);
  });

  it.each(STEP_NAMES.filter((step) => !['signal', 'wager', 'brief'].includes(step)))(
    'rejects a day when the step takes none: %s',
    async (step) => {
      await expect(byHand(step, getStepDueMs('wager', day), day)).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'day' });
    },
  );

  it.each(['signal', 'wager', 'brief'] as const)('rejects future days and days before the record: %s', async (step) => {
    const before = await runs();
    for (const of of [day + 1, day - 2]) {
      await expect(byHand(step, getStepDueMs('wager', day), of)).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'day' });
    }
    expect(await runs()).toEqual(before);
  });

  it('runs once due, for today by default, and repeats without effect', async () => {
    const { pipeline, infrastructure } = service;
    await infrastructure.localChain!.setNextBlockTime(getStepDueMs('attest', day));
    const signal = await byHand('signal', getStepDueMs('signal', day));
    expect(signal).toEqual({
      step: 'signal',
      day,
      outcome: { done: `forecast at ${new Date(getStepDueMs('signal', day)).toISOString()}` },
    });
    const [stored, forecasts] = [await pipeline.record.findDay(day), await pipeline.record.listByDay(day)];
    expect(await byHand('signal', getStepDueMs('wager', day), day)).toEqual(signal);
    expect([await pipeline.record.findDay(day), await pipeline.record.listByDay(day)]).toEqual([stored, forecasts]);

    expect((await byHand('attest', getStepDueMs('attest', day))).outcome).toEqual({ done: `committed ${formatDay(day)}` });
    expect((await byHand('attest', getStepDueMs('attest', day))).outcome).toEqual({ done: 'nothing to do' });
    const [run] = (await runs()).filter(({ _id }) => String(_id) === `attest:${formatDay(day)}`);
    expect(run).toMatchObject({ state: 'done', attempts: 2, replayed: false });
  });

  it('waits for its inputs and returns the reason', async () => {
    const held = { ...service.pipeline, findHoldReason: async () => 'the replay is not finished' };
    const { outcome } = await runStepManually(held, { step: 'resolve', now: new Date() });
    expect(outcome).toEqual({ waiting: 'the replay is not finished' });
  });
});
