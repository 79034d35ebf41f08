import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/schedule/step-times.ts';
import { OUTCOME_STEPS, runStep } from '../../../src/pipeline/step-registry.ts';
import type { StepName } from '../../../src/pipeline/step-run-store.ts';
import { OracleError } from '../../../src/platform/errors.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { signPayment } from '../../support/commerce/x402.ts';
import { isWrite } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { type FaultedTill, openFaultedTill } from '../../support/faults/faulted-till.ts';
import { freezeProcess } from '../../support/faults/freeze-process.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { attestedOnChain, runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const FREEZE_MS = Number(process.env.FREEZE_MS ?? 20_000);
/** Of the writes that each scenario makes: what is frozen stands still from this one on. */
const PAYMENT_WRITES = [1, 2, 3, 4, 5, 7];
const DAY_WRITES = [1, 3, 6, 9, 12, 16, 20];
const PATIENCE = { maxRepeats: 200, pauseMs: 250 };

let database: FaultedDatabase;

/** Freezes a process when the nth write is on its way to the database, which then still gets it. */
function freezeAtWrite(nth: number, pid: number): { ended: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let writes = 0;
  database.proxy.plan((command) => {
    if (isWrite(command) && ++writes === nth) freezeProcess(pid, FREEZE_MS).then(resolve, reject);
    return null;
  });
  return { ended: promise };
}

describe('a payment', () => {
  let till: FaultedTill;
  beforeAll(async () => {
    till = await openFaultedTill();
    database = till.database;
  });
  afterAll(() => till?.close());

  it.each(PAYMENT_WRITES.flatMap((write) => [['chain', write] as const, ['database', write] as const]))(
    'is settled once when the %s stands still from write %i on',
    async (what, write) => {
      const { bench, chain, readIncome } = till;
      const income = await readIncome();
      const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
      const frozen = freezeAtWrite(write, what === 'chain' ? chain.pid : database.direct.pid!);
      const began = performance.now();
      const sold = await repeatWhileRetryable(() => bench.sales.sell(bench.call(payment)), PATIENCE);
      await frozen.ended;
      process.stdout.write(`payment, ${what} frozen at write ${write}: sold after ${Math.round(performance.now() - began)} ms\n`);
      expect((await readIncome()) - income).toBe(1_000n);
      expect(await bench.ledger.payments.countDocuments({ txHash: sold.payment!.txHash })).toBe(1);
      await bench.sales.sweep();
      expect((await readIncome()) - income).toBe(1_000n);
    },
  );
});

describe('a day', () => {
  const DAYS = 40;
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

  it.each(DAY_WRITES.flatMap((write) => [['chain', write] as const, ['database', write] as const]))(
    'has each effect once when the %s stands still from write %i on',
    async (what, write) => {
      const frozen = freezeAtWrite(write, what === 'chain' ? chainPid : database.direct.pid!);
      const began = performance.now();
      await runDay();
      await frozen.ended;
      process.stdout.write(`day, ${what} frozen at write ${write}: done after ${Math.round(performance.now() - began)} ms\n`);
      const { record, wagers } = service.pipeline;
      expect((await record.listByDay(day)).map(({ horizonDays, state }) => [horizonDays, state])).toEqual(
        HORIZONS.map((horizon) => [horizon, 'PENDING']),
      );
      expect(await wagers.findByDay(day)).not.toBeNull();
      day += 1;
      expect(await attestedOnChain(service, 'prediction')).toBe((day - (today() - DAYS)) * HORIZONS.length);
      const revealed = await record.listMatching({ reveal: { $ne: null } });
      expect(await attestedOnChain(service, 'resolution')).toBe(revealed.length);
      const ids = (await service.push.events.after(0, 100_000)).map(({ _id }) => _id);
      expect(ids).toEqual(ids.map((_, index) => index + 1));
    },
  );
});
