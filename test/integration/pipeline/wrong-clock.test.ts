import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeContest } from '../../../src/app/pipeline.ts';
import { audit } from '../../../src/audit/audit.ts';
import { openRecordPrices } from '../../../src/cli/audit.ts';
import { claimsOf, openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { OracleError } from '../../../src/errors.ts';
import { DAY_MS, type Day, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLiveContext, getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { catchUp, catchUpSelfTests, runStep, STEP_NAMES, STEPS } from '../../../src/pipeline/pipeline.ts';
import { checkReadiness, readServiceStatus } from '../../../src/pipeline/status.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { createTrustedTime } from '../../../src/platform/time.ts';
import { getSelfTestDueMs } from '../../../src/record/self-tests.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';
import { workerWithClock } from '../../support/clock/worker-clock.ts';
import { serve } from '../../support/http/serve.ts';
import { recordState } from '../../support/record/record-state.ts';
import { type TestService, today, unresolvedService } from '../../support/service/service.ts';
import { settledWager } from './steps/wager-fixtures.ts';

/** The test covers one day, regardless of the hour in which it runs. */
const TODAY: Day = today();

let service: TestService;
beforeAll(async () => {
  service = await unresolvedService(10);
  await service.pipeline.wagers.wagers.insertOne(settledWager(TODAY - 30, 'WIN'));
});
afterAll(() => service.stop());

/** Rows of the record that a verifier's audit rejects. */
async function auditDifferences(): Promise<object[]> {
  const { http, infrastructure, pipeline } = service;
  const { eas, schemaRegistry } = http.chain.addresses;
  const served = await serve(service);
  const now = new Date();
  const report = await audit({
    chain: await openAuditChain({ rpcUrl: infrastructure.rpcUrl, eas, schemaRegistry }),
    attester: http.wallets.attester.address,
    prices: await openRecordPrices(pipeline.market.source, { feeds: 'simulated', now }),
    claims: claimsOf(served.url),
    now,
  });
  await served.close();
  return report.differences;
}

describe.each([
  ['two days ahead', 2 * DAY_MS],
  ['61 s ahead', 61_500],
  ['61 s behind', -61_500],
  ['two days behind', -2 * DAY_MS],
])('a worker whose clock is %s of a correct service', (_, aheadMs) => {
  const difference = expect.stringMatching(
    aheadMs > 0 ? /clock is (2 d|1 min \d s) ahead of the database's/ : /clock is (2 d|1 min \d s) behind the database's/,
  );

  it.each(STEP_NAMES)('changes nothing by the step %s, which returns why it waits', async (step) => {
    const worker = await workerWithClock(service, aheadMs);
    const before = await recordState(service);
    for (const day of [TODAY - 1, TODAY, TODAY + 1]) {
      expect(await runStep(worker.parts, step, day, worker.context())).toEqual({ waiting: difference });
    }
    expect(await recordState(service)).toEqual(before);
  });

  it.each(['resolve', 'settle', 'reputation', 'brief', 'attest'] as const)('changes nothing by calling %s directly', async (step) => {
    const worker = await workerWithClock(service, aheadMs);
    const before = await recordState(service);
    await STEPS[step](worker.parts, TODAY, worker.context()).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'STEP_WAITING' });
    });
    expect(await recordState(service)).toEqual(before);
  });

  it('changes nothing when catching up, in the contest neither', async () => {
    const worker = await workerWithClock(service, aheadMs);
    const before = await recordState(service);
    const reports = [...(await catchUp(worker.parts, worker.context())), ...(await catchUpSelfTests(worker.parts, worker.context()))];
    expect(reports.length).toBeGreaterThan(0);
    for (const { outcome } of reports) expect(outcome).toEqual({ waiting: difference });
    const contest = composeContest({ ...service.http, chain: worker.chain, time: worker.parts.time, now: worker.now });
    expect(await contest.run()).toEqual([{ step: 'list', round: null, waiting: difference }]);
    expect(await recordState(service)).toEqual(before);
  });
});

it.each([
  ['2 d ahead of', 2 * DAY_MS],
  ['2 d behind', -2 * DAY_MS],
])('GET /ready returns 503 and GET /api/status the reason when the clock is %s the database', async (difference, aheadMs) => {
  const { http } = service;
  const { chain, parts, now } = await workerWithClock(service, aheadMs);
  const context = { ...parts, chain, now };
  const readiness = () => checkReadiness(context, () => null, null);
  const settlement = { settledBy: 'service' as const, costMicros: null, detail: 'not read', margins: [] };
  const status = async () => ({
    ...(await readServiceStatus(context, {
      ...{ version: '1', feedReason: null, readiness },
      ...{ payments: async () => [], walletFunds: async () => [], schedule: () => null },
    })),
    settlement,
  });
  const served = await serve({ ...service, http: { ...http, readiness, status } });
  const detail = expect.stringContaining(`this process's clock is ${difference} the database's (`);
  const ready = await fetch(`${served.url}/ready`);
  expect(ready.status).toBe(503);
  const answers = [await ready.json(), await (await fetch(`${served.url}/api/status`)).json()] as { ready: boolean; checks: object[] }[];
  for (const answer of answers) {
    expect(answer.ready).toBe(false);
    expect(answer.checks).toContainEqual({ name: 'clock', ok: false, detail });
  }
  await served.close();
});

describe('beside a worker whose clock is two days ahead', () => {
  it('a correct worker runs what is due, and an audit accepts every row', async () => {
    const worker = await workerWithClock(service, 2 * DAY_MS);
    const live = () => createLiveContext(service.pipeline, new Date());
    await Promise.all([catchUp(service.pipeline, live()), catchUp(worker.parts, worker.context())]);
    await Promise.all([catchUp(worker.parts, worker.context()), catchUp(service.pipeline, live())]);
    const { record } = service.pipeline;
    expect(await record.forecasts.countDocuments({ state: 'VOID' })).toBe(0);
    expect(await record.forecasts.countDocuments({ reveal: { $ne: null }, resolvesAt: { $gt: new Date() } })).toBe(0);
    expect(await record.forecasts.countDocuments({ reveal: { $ne: null } })).toBeGreaterThan(20);
    expect(await auditDifferences()).toEqual([]);
  });
});

describe('an instant that the process has passed and another clock has not', () => {
  const window = getWindowOpensMs(TODAY);
  /** Of its own service: today is forecast and not attested, everything older is resolved. */
  let evening: TestService;
  beforeAll(async () => {
    evening = await unresolvedService(3);
    const { pipeline } = evening;
    const silentChain = createTrustedTime({
      ...atInstant(getStepDueMs('signal', TODAY), 0, 0),
      newestBlockAt: () => Promise.reject(new OracleError('CHAIN_UNREACHABLE', 'the endpoint does not answer')),
    });
    const context = { now: new Date(getStepDueMs('signal', TODAY)), replayed: false, time: silentChain };
    expect(await runStep(pipeline, 'signal', TODAY, context), 'a forecast needs no chain').toHaveProperty('done');
    const { market, ...unstaked } = settledWager(TODAY - 31, 'LOSS');
    const open = { state: 'SKIPPED' as const, winner: null, settledAt: null };
    const expiring = { ...unstaked, ...open, market: { ...market!, expiresAt: new Date(window) } };
    await pipeline.wagers.wagers.insertOne(expiring);
    for (const step of ['open-window', 'resolve', 'settle'] as const) {
      const past = { now: new Date(toInstantMs(TODAY)), replayed: false, time: timeAt(toInstantMs(TODAY)) };
      expect(await runStep(pipeline, step, TODAY, past)).toHaveProperty('done');
    }
  });
  afterAll(() => evening.stop());

  /** The three clocks at an instant, database and chain a number of milliseconds behind the process. */
  function atInstant(instantMs: number, databaseMs: number, blockMs: number) {
    return {
      now: () => new Date(instantMs),
      databaseNow: async () => new Date(instantMs - databaseMs),
      newestBlockAt: async () => new Date(instantMs - blockMs),
    };
  }

  const STEP_INSTANTS: [StepName, Day, number][] = [
    ['signal', TODAY + 1, getStepDueMs('signal', TODAY + 1)],
    ['attest', TODAY, getStepDueMs('attest', TODAY)],
    ['wager', TODAY, getStepDueMs('wager', TODAY)],
    ['open-window', TODAY, window],
    ['resolve', TODAY, window],
    ['settle', TODAY, window],
    ['brief', TODAY + 1, getStepDueMs('brief', TODAY + 1)],
    ['backtest', TODAY + 1, getSelfTestDueMs('backtest', TODAY + 1)],
  ];

  describe.each([
    ["the database's clock", 30_000, 0],
    ['the newest block', 0, 30_000],
    ['the newest block', 0, DAY_MS],
  ])('%s: database %d ms, chain %d ms behind', (clock, databaseMs, blockMs) => {
    it.each(STEP_INSTANTS)('%s waits and changes nothing permanent', async (step, day, instantMs) => {
      const context = { now: new Date(instantMs), replayed: false, time: createTrustedTime(atInstant(instantMs, databaseMs, blockMs)) };
      const withoutRuns = async () => ({ ...(await recordState(evening)), step_runs: null });
      const before = await withoutRuns();
      const waiting = expect.stringContaining(`is at ${new Date(instantMs).toISOString()}, and ${clock} is at`);
      expect(await runStep(evening.pipeline, step, day, context)).toEqual({ waiting });
      expect(await withoutRuns()).toEqual(before);
    });
  });

  it("a day is neither forecast nor missed when only the database's clock has passed its window's opening", async () => {
    const { pipeline } = evening;
    const day = TODAY + 1;
    const opens = getWindowOpensMs(day);
    const time = createTrustedTime({
      ...atInstant(opens, 0, 0),
      now: () => new Date(opens - 20_000),
      databaseNow: async () => new Date(opens + 10_000),
    });
    const context = { now: new Date(opens - 20_000), replayed: false, time };
    expect(await runStep(pipeline, 'signal', day, context)).toEqual({ waiting: expect.stringContaining("this process's clock is at") });
    expect(await pipeline.record.findDay(day)).toBeNull();
    expect(await pipeline.record.listByDay(TODAY)).toHaveLength(HORIZONS.length);
  });
});
