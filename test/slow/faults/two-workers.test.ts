import { afterAll, beforeAll, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs, getWindowOpensMs, type StepContext } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type FaultPoint, isWrite } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { attestedOnChain, type TestService, testService, today } from '../../support/service/service.ts';

/** Within the retention of events. */
const DAYS = 85;
const MAX_WRITES = 36;

let database: FaultedDatabase;
/** Its process dies, for the database, at one write a day. */
let dying: TestService;
let other: TestService;
let day: number;

beforeAll(async () => {
  database = await faultedDatabase();
  dying = await testService(DAYS, { MONGODB_URI: database.proxy.uri });
  const { rpcUrl } = dying.infrastructure;
  other = await testService(DAYS, {
    ...{ MONGODB_URI: database.direct.uri, CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', DATA_DIR: dying.dataDir },
  });
  day = today() - DAYS;
});
afterAll(async () => {
  await other.stop();
  await dying.stop();
  await database.drop();
});

/** From the nth write on, none of this worker reaches the database; the nth itself does or does not. */
function dieAtWrite(point: FaultPoint): void {
  let count = 0;
  database.proxy.plan((command) => {
    if (!isWrite(command)) return null;
    count += 1;
    if (count < point.write) return null;
    const isDead = point.hit !== null;
    point.hit ??= `${command.name} ${command.collection}`;
    return isDead ? 'cut-before' : point.fault;
  });
}

async function finish(step: StepName, context: StepContext): Promise<void> {
  await repeatWhileRetryable(async () => {
    const outcome = await runStep(other.pipeline, step, day, context);
    if ('failed' in outcome) throw new Error(`${step} failed: ${outcome.failed}`);
    if ('waiting' in outcome) throw new OracleError('STEP_WAITING', outcome.waiting);
  });
}

/** Each step by both workers at the same time, until the one that dies is dead. */
async function runDay(point: FaultPoint): Promise<void> {
  const steps: [number, StepName][] = [
    ...(['signal', 'attest', 'wager'] as const).map((step): [number, StepName] => [getStepDueMs(step, day), step]),
    ...OUTCOME_STEPS.map((step): [number, StepName] => [getWindowOpensMs(day), step]),
  ];
  for (const [ms, step] of steps) {
    await dying.infrastructure.localChain!.setNextBlockTime(ms);
    const context = { ...contextAt(ms), replayed: true };
    const first = point.hit === null ? runStep(dying.pipeline, step, day, context).catch(() => undefined) : undefined;
    await finish(step, context);
    await first;
  }
  await repeatWhileRetryable(() => other.pipeline.publishChanges().then(() => undefined));
}

it('two workers have one effect, at whichever write one of them dies', { timeout: 900_000 }, async () => {
  const first = day;
  const hits: string[] = [];
  for (const fault of ['cut-before', 'cut-after'] as const) {
    for (let write = 1; write <= MAX_WRITES; write++) {
      const point: FaultPoint = { fault, write, hit: null };
      dieAtWrite(point);
      await runDay(point);
      database.proxy.plan(null);
      if (point.hit !== null) hits.push(point.hit);
      const forecasts = await other.pipeline.record.listByDay(day);
      expect(
        forecasts.map(({ state }) => state),
        JSON.stringify(point),
      ).toEqual(HORIZONS.map(() => 'PENDING'));
      expect(await database.direct.db.collection('transactions').countDocuments({ key: `attest:${formatDay(day)}` })).toBe(1);
      expect(await other.pipeline.wagers.findByDay(day)).not.toBeNull();
      day += 1;
    }
  }
  process.stdout.write(`two workers: ${hits.length} deaths in ${day - first} days\n`);
  expect(await attestedOnChain(dying, 'prediction')).toBe((day - first) * HORIZONS.length);
  const revealed = other.pipeline.record.known.listAll().filter(({ reveal }) => reveal !== null);
  expect(await attestedOnChain(dying, 'resolution')).toBe(revealed.length);
  const events = await other.push.events.after(0, 100_000);
  expect(events.map(({ _id }) => _id)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => type === 'signal.new').length).toBe((day - first) * HORIZONS.length);
});
