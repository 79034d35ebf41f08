import { afterEach, expect, it } from 'vitest';
import { getStepDueMs } from '../../../src/pipeline/forecaster.ts';
import { catchUp, runStep } from '../../../src/pipeline/pipeline.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

let service: TestService;
afterEach(() => service?.stop());

const at = contextAt;

it('a record starts with a forecast, never with a past day', async () => {
  service = await testService(0);
  const { pipeline } = service;
  expect(await runStep(pipeline, 'signal', today() - 1000, at(Date.now()))).toEqual({
    waiting: expect.stringContaining('begins with a forecast'),
  });
  expect(await pipeline.record.findGenesisDay()).toBeNull();
});

it('a process killed between the genesis claim and the first write leaves a usable record', async () => {
  service = await testService(3);
  const { pipeline, database } = service;
  const first = today() - 2;
  await database.db.collection<{ _id: string; day: number }>('record_meta').insertOne({ _id: 'genesis', day: first });
  const evening = getStepDueMs('signal', first + 1);
  await service.infrastructure.localChain!.setNextBlockTime(getStepDueMs('attest', first + 1));
  await catchUp(pipeline, at(evening));
  const docs = pipeline.record.known.listByHorizon(7);
  expect(docs.map(({ sequence, missed }) => ({ sequence, missed }))).toEqual([
    { sequence: 1, missed: true },
    { sequence: 2, missed: false },
  ]);
});

it('a process killed between a day and its forecasts leaves a day that is completed later', async () => {
  service = await testService(2);
  const { record } = service.pipeline;
  const day = today() - 2;
  await runPastDay(service, day, []);
  const written = await record.listByDay(day);
  await record.forecasts.deleteMany({ day, horizonDays: { $gt: 1 } });
  await catchUp(service.pipeline, at(getStepDueMs('attest', day)));
  const completed = await record.listByDay(day);
  expect(completed.map(({ commitment }) => commitment)).toEqual(written.map(({ commitment }) => commitment));
});
