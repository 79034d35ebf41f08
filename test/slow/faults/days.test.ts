import { afterEach, beforeEach, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { RecordProjection } from '../../../src/record/projection.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { isWrite, sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { attestedOnChain, type TestService, testService, today } from '../../support/service/service.ts';

/** Within the retention of events. */
const DAYS = 88;
let database: FaultedDatabase;
let service: TestService;
let day: number;

beforeEach(async () => {
  database = await faultedDatabase();
  service = await testService(DAYS, { MONGODB_URI: database.proxy.uri });
  day = today() - DAYS;
});
afterEach(async () => {
  await service.stop();
  await database.drop();
});

/** As readers between the steps do. */
async function refreshFigures(): Promise<void> {
  await service.pipeline.figures.refresh();
  await service.pipeline.crowd.get(null);
}

/** Runs a step until it is done, as catch-up does; a step that fails needs the operator. */
async function finish(step: StepName, ms: number): Promise<void> {
  await repeatWhileRetryable(async () => {
    await refreshFigures();
    const outcome = await runStep(service.pipeline, step, day, { ...contextAt(ms), replayed: true });
    if ('failed' in outcome) {
      const run = await database.direct.db.collection('step_runs').findOne({ _id: `${step}:${formatDay(day)}` as never });
      throw new Error(`${step} failed: ${run?.unexpected ?? outcome.failed}`);
    }
    if ('waiting' in outcome) throw new OracleError('STEP_WAITING', outcome.waiting);
  });
}

/** The steps of a past day at their own times, then its events. */
async function runDay(): Promise<void> {
  const steps: [number, StepName][] = [
    ...(['signal', 'attest', 'wager'] as const).map((step): [number, StepName] => [getStepDueMs(step, day), step]),
    ...OUTCOME_STEPS.map((step): [number, StepName] => [getWindowOpensMs(day), step]),
  ];
  for (const [ms, step] of steps) {
    await service.infrastructure.localChain!.setNextBlockTime(ms);
    await finish(step, ms);
  }
  await repeatWhileRetryable(() => service.pipeline.publishChanges().then(() => undefined));
}

async function expectOneEffect(): Promise<void> {
  const { record, wagers, venue } = service.pipeline;
  const date = formatDay(day);
  const forecasts = await record.listByDay(day);
  expect(forecasts.map(({ horizonDays, state }) => [horizonDays, state])).toEqual(HORIZONS.map((horizon) => [horizon, 'PENDING']));
  expect(await database.db.collection('transactions').countDocuments({ key: `attest:${date}` })).toBe(1);
  expect((await record.listDueForResolution(new Date(getWindowOpensMs(day)))).length).toBe(0);
  expect(await wagers.findByDay(day)).not.toBeNull();
  const placed = await wagers.wagers.find({ state: 'PLACED' }).toArray();
  expect((await venue.getAccount()).openMicros).toBe(placed.reduce((sum, { costMicros }) => sum + costMicros, 0));
  const stored = new RecordProjection(database.db);
  await stored.load();
  await record.known.catchUp();
  expect([record.known.listDays(), record.known.listAll(), record.known.listWagers()]).toEqual([
    ...[stored.listDays(), stored.listAll(), stored.listWagers()],
  ]);
}

async function expectWholeRecord(days: number): Promise<void> {
  const { record } = service.pipeline;
  expect(await attestedOnChain(service, 'prediction')).toBe(days * HORIZONS.length);
  const revealed = record.known.listAll().filter(({ reveal }) => reveal !== null);
  expect(await attestedOnChain(service, 'resolution')).toBe(revealed.length);
  expect(new Set(revealed.map(({ reveal }) => reveal!.uid)).size).toBe(revealed.length);
  const events = await service.push.events.after(0, 100_000);
  expect(events.map(({ _id }) => _id)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => type === 'signal.new').length).toBe(days * HORIZONS.length);
  const outcomes = revealed.filter(({ state }) => state !== 'HOLD').length;
  expect(events.filter(({ type }) => type === 'signal.resolved').length).toBe(outcomes);
  const reported = await service.pipeline.wagers.wagers.countDocuments({ feedbackTxHash: { $ne: null } });
  expect((await service.http.reputation())?.total ?? 0).toBe(reported);
}

it.each(['cut-before', 'cut-after'] as const)(
  'has each effect of a day once, whichever of its writes meets a %s',
  { timeout: 900_000 },
  async (fault) => {
    const first = day;
    // The first outcomes of all horizons.
    for (; day < first + 9; day++) await runDay();
    await sweepWrites({
      name: 'day',
      proxy: database.proxy,
      faults: [fault],
      counts: (command) => isWrite(command) && command.collection !== 'record_figures',
      patience: 5,
      scenario: runDay,
      async check() {
        await expectOneEffect();
        day += 1;
      },
    });
    await expectWholeRecord(day - first);
  },
);
