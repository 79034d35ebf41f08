import { afterAll, beforeAll, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { getStepDueMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { MICROS } from '../../../src/wager/venue.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';
import { decidedWager, expiredWager, settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { isWrite, sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { clearWagers, runCommand, runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 60;
let database: FaultedDatabase;
let service: TestService;
/** The next day to put a wager on, from the first one that is wholly resolved. */
let day: number;

beforeAll(async () => {
  database = await faultedDatabase();
  service = await testService(DAYS, { MONGODB_URI: database.proxy.uri });
  // Their own outcomes are not reported: a report is sent once for each day.
  const steps = OUTCOME_STEPS.filter((step) => step !== 'reputation');
  for (let past = today() - DAYS; past < today(); past++) await runPastDay(service, past, steps);
  await service.infrastructure.localChain!.followWallClock();
  await clearWagers(service);
  // The paper venue quotes once the day has its forecast.
  expect(await runCommand(service, ['signal', '--early']).ended).toMatchObject({ code: 0 });
  day = today() - DAYS;
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

async function finish(step: StepName, ms: number): Promise<void> {
  await repeatWhileRetryable(async () => {
    const outcome = await runStep(service.pipeline, step, day, { ...contextAt(ms), replayed: true });
    if ('failed' in outcome) throw new Error(`${step} failed: ${outcome.failed}`);
    if ('waiting' in outcome) throw new OracleError('STEP_WAITING', outcome.waiting);
  });
  await repeatWhileRetryable(() => service.pipeline.publishChanges().then(() => undefined));
}

const sweep = (
  name: string,
  { prepare, scenario, check }: { prepare(): Promise<WagerDoc>; scenario(): Promise<void>; check(wager: WagerDoc): Promise<void> },
) =>
  sweepWrites({
    name,
    proxy: database.proxy,
    counts: (command) => isWrite(command) && command.collection !== 'record_figures',
    async prepare() {
      const wager = await prepare();
      await service.pipeline.wagers.wagers.replaceOne({ _id: formatDay(day) }, wager, { upsert: true });
    },
    scenario,
    async check() {
      await check((await service.pipeline.wagers.findByDay(day))!);
      const events = await service.push.events.after(0, 100_000);
      const keys = events.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      day += 1;
    },
  });

it('places a wager once', async () => {
  const { pipeline } = service;
  let cash = 0;
  await sweep('placing a wager', {
    async prepare() {
      cash = (await pipeline.venue.getAccount()).cashMicros;
      return decidedWager(pipeline, day);
    },
    scenario: () => finish('wager', getStepDueMs('wager', day)),
    async check(wager) {
      expect(wager).toMatchObject({ state: 'PLACED', contracts: 10 });
      expect((await pipeline.venue.getAccount()).cashMicros).toBe(cash - wager.costMicros);
    },
  });
});

it('settles a wager once', async () => {
  const { pipeline } = service;
  let cash = 0;
  await sweep('settling a wager', {
    async prepare() {
      const wager = await expiredWager(pipeline, day);
      cash = (await pipeline.venue.getAccount()).cashMicros;
      return wager;
    },
    scenario: () => finish('settle', Date.now()),
    async check(wager) {
      expect(wager).toMatchObject({ state: 'WIN', winner: 'YES', payoutMicros: 10 * MICROS });
      expect((await pipeline.venue.getAccount()).cashMicros).toBe(cash + 10 * MICROS);
    },
  });
});

it('reports an outcome once', async () => {
  let total = 0;
  const readTotal = async () => (await service.http.reputation())?.total ?? 0;
  // Those of the fixture have no quote to report.
  await service.pipeline.wagers.wagers.deleteMany({ quote: null });
  await finish('reputation', Date.now());
  await sweep('reporting an outcome', {
    async prepare() {
      total = await readTotal();
      return settledWager(day, 'WIN');
    },
    scenario: () => finish('reputation', Date.now()),
    async check(wager) {
      expect(wager.feedbackTxHash).toMatch(/^0x/);
      expect(await readTotal()).toBe(total + 1);
    },
  });
});
