import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/pipeline.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { signPayment } from '../../support/commerce/x402.ts';
import { isWrite } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { type FaultedTill, openFaultedTill } from '../../support/faults/faulted-till.ts';
import { freezeProcess } from '../../support/faults/freeze-process.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { attestedOnChain, runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const FREEZE_MS = Number(process.env.FREEZE_MS ?? 20_000);
/** Of 20 s and more each, for every write of a scenario. */
const TIMEOUT_MS = 3_600_000;
const PATIENCE = { maxRepeats: 200, pauseMs: 250 };
const FROZEN = ['chain', 'database'] as const;

let database: FaultedDatabase;

/** Freezes a process when the nth write is on its way to the database, which then still gets it. `wait` resolves to false without such a write. */
function freezeAtWrite(nth: number, pid: number): { wait(): Promise<boolean> } {
  let writes = 0;
  let frozen: Promise<void> | undefined;
  database.proxy.plan((command) => {
    if (isWrite(command) && ++writes === nth) frozen = freezeProcess(pid, FREEZE_MS);
    return null;
  });
  async function wait(): Promise<boolean> {
    await frozen;
    return frozen !== undefined;
  }
  return { wait };
}

/** Runs a scenario once for each of its writes, of which it makes at least `minWrites`. */
async function freezeAtEachWrite(
  what: string,
  { pid, minWrites, scenario }: { pid: number; minWrites: number; scenario(): Promise<void> },
) {
  for (let write = 1; ; write += 1) {
    const frozen = freezeAtWrite(write, pid);
    const began = performance.now();
    await scenario();
    if (!(await frozen.wait())) {
      expect(write).toBeGreaterThan(minWrites);
      return;
    }
    process.stdout.write(`${what} frozen at write ${write}: done after ${Math.round(performance.now() - began)} ms\n`);
  }
}

describe('a payment', () => {
  let till: FaultedTill;
  beforeAll(async () => {
    till = await openFaultedTill();
    database = till.database;
  });
  afterAll(() => till?.close());

  it.each(FROZEN)('is settled once when the %s stands still from any write on', { timeout: TIMEOUT_MS }, async (what) => {
    const { bench, chain, readIncome } = till;
    async function sellOnce(): Promise<void> {
      const income = await readIncome();
      const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
      const sold = await repeatWhileRetryable(() => bench.sales.sell(bench.call(payment)), PATIENCE);
      expect((await readIncome()) - income).toBe(1_000n);
      expect(await bench.ledger.payments.countDocuments({ txHash: sold.payment!.txHash })).toBe(1);
      await bench.sales.sweep();
      expect((await readIncome()) - income).toBe(1_000n);
    }
    const pid = what === 'chain' ? chain.pid : database.direct.pid!;
    await freezeAtEachWrite(`payment, ${what}`, { pid, minWrites: 4, scenario: sellOnce });
  });
});

describe('a day', () => {
  const DAYS = 120;
  let service: TestService;
  let chainPid: number;
  let day: number;
  beforeAll(async () => {
    database = await faultedDatabase();
    service = await testService(DAYS, { MONGODB_URI: database.proxy.uri });
    chainPid = JSON.parse(await readFile(join(service.dataDir, 'chain', 'anvil.pid'), 'utf8')).pid;
    day = today() - DAYS;
    for (const first = day; day < first + 8; day++) await runPastDay(service, day);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  async function runDay(): Promise<void> {
    const steps: [number, StepName][] = [
      ...(['signal', 'attest', 'wager'] as const).map((step): [number, StepName] => [getStepDueMs(step, day), step]),
      ...OUTCOME_STEPS.map((step): [number, StepName] => [getWindowOpensMs(day), step]),
    ];
    for (const [ms, step] of steps) {
      await repeatWhileRetryable(() => setNextBlockTime(ms), PATIENCE);
      await repeatWhileRetryable(async () => {
        const outcome = await runStep(service.pipeline, step, day, { ...contextAt(ms), replayed: true });
        if ('failed' in outcome) throw new Error(`${step} failed: ${outcome.failed}`);
        if ('waiting' in outcome) throw new OracleError('STEP_WAITING', outcome.waiting);
      }, PATIENCE);
    }
    await repeatWhileRetryable(() => service.pipeline.publishChanges().then(() => undefined), PATIENCE);
  }

  /** Not of the service: a test sets the clock of its chain. */
  async function setNextBlockTime(ms: number): Promise<void> {
    await service.infrastructure.localChain!.setNextBlockTime(ms).catch((cause: unknown) => {
      throw new OracleError('CHAIN_UNREACHABLE', 'the clock of the chain cannot be set', { cause });
    });
  }

  it.each(FROZEN)('has each effect once when the %s stands still from any write on', { timeout: TIMEOUT_MS }, async (what) => {
    const { record, wagers } = service.pipeline;
    async function runNextDay(): Promise<void> {
      await runDay();
      expect((await record.listByDay(day)).map(({ horizonDays, state }) => [horizonDays, state])).toEqual(
        HORIZONS.map((horizon) => [horizon, 'PENDING']),
      );
      expect(await wagers.findByDay(day)).not.toBeNull();
      day += 1;
      expect(await attestedOnChain(service, 'prediction')).toBe((day - (today() - DAYS)) * HORIZONS.length);
      const revealed = record.known.listAll().filter(({ reveal }) => reveal !== null);
      expect(await attestedOnChain(service, 'resolution')).toBe(revealed.length);
      const ids = (await service.push.events.after(0, 100_000)).map(({ _id }) => _id);
      expect(ids).toEqual(ids.map((_, index) => index + 1));
    }
    const pid = what === 'chain' ? chainPid : database.direct.pid!;
    await freezeAtEachWrite(`day, ${what}`, { pid, minWrites: 16, scenario: runNextDay });
  });
});
