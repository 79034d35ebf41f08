import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { DAY_MS, type Day, formatDay, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { allRoutes } from '../../../../src/http/routes.ts';
import type { PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { catchUpSelfTests, prepareSelfTests, runStep } from '../../../../src/pipeline/pipeline.ts';
import { type SelfTestDeps, SingleFlightQueue } from '../../../../src/pipeline/self-test-process.ts';
import { SELF_TESTS, type SelfTestDoc } from '../../../../src/record/schemas/self-tests.ts';
import { getNewestDueDay, getSelfTestDueMs } from '../../../../src/record/self-tests.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { call, serve } from '../../../support/http/serve.ts';
import { computeShortly, shortly } from '../../../support/service/self-tests.ts';
import { runPastDay, type TestService, testService } from '../../../support/service/service.ts';

const DAYS = 9;
const PATHS = ['status', 'walk-forward', 'contamination', 'stability', 'polymarket-comparison'].map((name) => `/api/self-test/${name}`);
let service: TestService;
/** The day after the last run: the clock of these tests is within it. */
let end: Day;
let inProcess: SelfTestDeps['compute'];

beforeAll(async () => {
  service = await testService(DAYS);
  end = toDay(Date.now());
  for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
  inProcess = service.pipeline.selfTests.compute;
});
afterAll(() => service?.stop());
beforeEach(async () => {
  await Promise.all(['self_tests', 'step_runs'].map((name) => service.database.db.collection(name).deleteMany({})));
  service.progress.complete();
});

const at = contextAt;
const NOON = () => toInstantMs(end, 12);
/** A service that has run since midnight, whenever the test runs. */
const startedAt = () => new Date(toInstantMs(end));
const docs = () => service.database.db.collection<SelfTestDoc>('self_tests').find().sort({ _id: 1 }).toArray();

/** The pipeline of a separate worker. */
function worker(selfTests: Partial<SelfTestDeps> = {}, rest: Partial<PipelineContext> = {}): PipelineContext {
  const own = { turns: new SingleFlightQueue(), compute: computeShortly, ...selfTests };
  return { ...service.pipeline, ...rest, selfTests: { ...service.pipeline.selfTests, ...own } };
}

/** Response of a path at an instant; fields outside its schema fail. */
async function ask(path: string, ms = NOON()) {
  const selfTests = { ...service.http.selfTests, getRunningSince: () => (service.progress.current === null ? startedAt() : null) };
  const route = allRoutes({ ...service.http, selfTests, now: () => new Date(ms) }).find((one) => one.path === path)!;
  const { body } = await call(route);
  expect(undocumented(route.reply!, JSON.parse(JSON.stringify(body)))).toEqual([]);
  return body;
}

const failure = (reason: string) => async () => {
  throw new OracleError('INTERNAL', reason);
};

describe('before the first result', () => {
  it('the status lists no run, and result paths return what they wait for with Retry-After', async () => {
    service.progress.startStep('replaying days of history', { done: 3, total: 120 });
    const { tests, overdue, selfReport } = await ask(PATHS[0]);
    expect(tests.map(({ test, state, verdict }: SelfTestDoc) => ({ test, state, verdict }))).toEqual(
      SELF_TESTS.map((test) => ({ test, state: 'waiting', verdict: null })),
    );
    expect(tests[0].reason).toBe('replaying days of history: 3 of 120');
    expect([overdue, selfReport]).toEqual([[], null]);
    for (const path of PATHS.slice(1)) {
      await expect(ask(path), path).rejects.toMatchObject({
        code: 'STEP_WAITING',
        message: expect.stringContaining('replaying days of history: 3 of 120'),
        retryAfterSeconds: 60,
      });
    }
  });

  it('waits for missing history; tests that need none have results', async () => {
    const market = {
      ...service.pipeline.market,
      inputs: async () => {
        throw new OracleError('PRICE_UNAVAILABLE', 'No daily close of yesterday yet');
      },
    };
    const reports = await catchUpSelfTests(worker({}, { market }), at(NOON()));
    expect(reports).toMatchObject([
      { step: 'backtest', outcome: { waiting: 'No daily close of yesterday yet' } },
      { step: 'diagnostics', outcome: { waiting: 'No daily close of yesterday yet' } },
    ]);
    expect((await docs()).map(({ test }) => test)).toEqual(['polymarket-comparison', 'self-report']);
    await expect(ask('/api/self-test/stability')).rejects.toMatchObject({
      message: expect.stringContaining('No daily close of yesterday'),
    });
    expect((await ask(PATHS[0])).overdue).toEqual(['walk-forward', 'contamination', 'stability']);
    // A service that has just started has missed nothing.
    const began = startedAt().getTime();
    expect((await ask(PATHS[0], began + 14 * 60_000)).overdue).toEqual([]);
    expect((await ask(PATHS[0], began + 15 * 60_000)).overdue).toEqual(['walk-forward', 'contamination', 'stability']);

    const again = await catchUpSelfTests(worker(), at(NOON()));
    expect(again.map(({ outcome }) => outcome)).toEqual([{ done: 'ran walk-forward' }, { done: 'ran contamination, stability' }]);
  });
});

describe('a fresh start', () => {
  it('has results on all five paths, computed in a child process while requests are answered', async () => {
    const { url, close } = await serve(service);
    const compute: SelfTestDeps['compute'] = ({ frame }, names) =>
      inProcess({ frame: shortly(frame), pointInTime: [], vintages: 'made' }, names);
    let answered = 0;
    let whileRunning = 0;
    const running = catchUpSelfTests(worker({ compute }), at(NOON())).finally(() => {
      whileRunning = answered;
    });
    while (answered < 100 && whileRunning === 0) {
      expect((await fetch(`${url}/api/svc/open/signal`)).status).toBe(200);
      answered++;
    }
    for (const { outcome } of await running) expect(outcome).toHaveProperty('done');
    expect(whileRunning).toBeGreaterThan(0);
    for (const path of PATHS) expect((await fetch(url + path)).status, path).toBe(200);
    await close();

    const { report, overfitting, ...envelope } = await ask('/api/self-test/walk-forward');
    expect(envelope).toMatchObject({ test: 'walk-forward', simulated: true, replayed: false, lastDay: formatDay(end - 1), overdue: false });
    expect(report).toMatchObject({ folds: 0, expectedFolds: 19, note: expect.stringContaining('0 of 19 folds'), healthy: true });
    expect(overfitting.trials).toBe(147);
    expect(await ask('/api/self-test/contamination')).toMatchObject({ report: { folds: 0 } });
    expect(await ask('/api/self-test/stability')).toMatchObject({ result: null, report: { result: null, folds: 0 } });
    const comparison = await ask('/api/self-test/polymarket-comparison');
    expect(comparison.verdict).toContain('our own paper venue');
    expect(comparison.report).toMatchObject({ quotesAreOurs: true, throughDate: formatDay(end - 8) });
    const { tests, overdue, selfReport } = await ask(PATHS[0]);
    expect([overdue, selfReport.test]).toEqual([[], 'self-report']);
    expect(tests.every(({ state }: SelfTestDoc) => state === 'done')).toBe(true);
  });

  it('has all results when a replay ends', async () => {
    const deps = worker({}, { findHoldReason: async () => 'the replay is not finished' });
    await prepareSelfTests(deps, new Date(NOON()));
    expect((await docs()).map(({ test }) => test)).toEqual(['contamination', 'stability', 'walk-forward']);
    expect(await catchUpSelfTests(deps, at(NOON()))).toMatchObject([
      { outcome: { waiting: 'the replay is not finished' } },
      { outcome: { waiting: 'the replay is not finished' } },
    ]);
    const compute = failure('nothing is left to compute');
    const after = await catchUpSelfTests(worker({ compute }), at(NOON()));
    expect(after.map(({ outcome }) => outcome)).toEqual([{ done: 'ran polymarket-comparison' }, { done: 'ran self-report' }]);
  });
});

describe('a run of the self-tests', () => {
  it('runs once per due day, regardless of how often and by how many workers it is requested', async () => {
    const workers = [worker(), worker()];
    await Promise.all(workers.map((one) => catchUpSelfTests(one, at(NOON()))));
    const once = await docs();
    expect(once.map(({ test }) => test).sort()).toEqual([...SELF_TESTS].sort());
    expect(await catchUpSelfTests(workers[0], at(NOON()))).toEqual([]);
    for (const step of ['backtest', 'diagnostics'] as const) {
      expect(await runStep(workers[1], step, end, at(NOON() + 1_000))).toEqual({ done: 'nothing to do' });
    }
    expect(await docs()).toEqual(once);

    await catchUpSelfTests(workers[0], at(toInstantMs(end + 1, 3)));
    expect(await docs()).toHaveLength(
      once.length + 2 + (getNewestDueDay('diagnostics', toInstantMs(end + 1, 3), null) > once[0].day ? 3 : 0),
    );
  });

  it('records whether it was late', async () => {
    const lateness = async (ms: number) => {
      await runStep(worker(), 'backtest', end, at(ms));
      return (await docs()).filter(({ day }) => day === end).map(({ late, dueAt }) => [late, dueAt.getTime()]);
    };
    const due = getSelfTestDueMs('backtest', end);
    const forget = (filter = {}) => service.database.db.collection('self_tests').deleteMany(filter);
    await forget();
    const firstOfAll = await lateness(due + 3 * 60_000);
    expect(firstOfAll.map(([late]) => late)).toEqual([true, true]);
    await forget();
    await runStep(worker(), 'backtest', end - 1, at(due - DAY_MS));
    expect(await lateness(due + 2 * 60_000)).toEqual([
      [false, due],
      [false, due],
    ]);
    await forget({ day: end });
    expect(await lateness(due + 3 * 60_000)).toEqual([
      [true, due],
      [true, due],
    ]);
  });

  it('is repeated by the next process when its own process dies', async () => {
    const compute = async () => {
      throw new OracleError('SHUTTING_DOWN', 'The service is stopping');
    };
    const [backtest] = await catchUpSelfTests(worker({ compute }), at(NOON()));
    expect(backtest.outcome).toEqual({ waiting: 'The service is stopping' });
    expect((await docs()).map(({ test }) => test)).not.toContain('walk-forward');
    const [again] = await catchUpSelfTests(worker(), at(NOON()));
    expect(again.outcome).toEqual({ done: 'ran walk-forward' });
  });

  it('reports a failure, keeps the earlier result, and retries after an hour', async () => {
    await catchUpSelfTests(worker(), at(NOON()));
    const next = toInstantMs(end + 1, 4);
    const [backtest] = await catchUpSelfTests(worker({ compute: failure('the thread ended with code 7') }), at(next));
    expect(backtest.outcome).toEqual({ failed: 'the thread ended with code 7' });
    const body = await ask('/api/self-test/walk-forward', next);
    expect(body).toMatchObject({ date: formatDay(end), overdue: true, failure: { reason: 'the thread ended with code 7' } });
    const { tests, overdue } = await ask(PATHS[0], next);
    expect(tests[0]).toMatchObject({
      test: 'walk-forward',
      state: 'failed',
      reason: 'the thread ended with code 7',
      verdict: body.verdict,
    });
    expect(overdue).toContain('walk-forward');

    const retried = async (minutes: number) =>
      (await catchUpSelfTests(worker(), at(next + minutes * 60_000))).filter(({ step }) => step === 'backtest');
    expect(await retried(59)).toEqual([]);
    expect(await retried(60)).toMatchObject([{ outcome: { done: 'ran walk-forward' } }]);
    expect(await ask('/api/self-test/walk-forward', next)).toMatchObject({ date: formatDay(end + 1), overdue: false, failure: null });
  });

  it('reports a failure of new code beside an older result everywhere, and retries after an hour', async () => {
    await catchUpSelfTests(worker({ codeVersion: 'old', startedAt: new Date(NOON() - 2) }), at(NOON()));
    const renewed = { codeVersion: 'new', startedAt: new Date(NOON() + 1) };
    const broken = worker({ ...renewed, compute: failure('the new code is broken') });
    const upgraded = NOON() + 60_000;
    expect(await catchUpSelfTests(broken, at(upgraded))).toMatchObject([
      { step: 'backtest', outcome: { failed: 'the new code is broken' } },
      { step: 'diagnostics', outcome: { failed: 'the new code is broken' } },
    ]);
    const why = { reason: 'the new code is broken', codeVersion: 'new' };
    expect(await ask('/api/self-test/walk-forward', upgraded)).toMatchObject({ codeVersion: 'old', failure: why });
    const { tests } = await ask(PATHS[0], upgraded);
    expect(tests[0]).toMatchObject({ state: 'failed', ...why, lastRunAt: new Date(upgraded).toISOString() });
    const [step] = await service.pipeline.runs.listBetween(['backtest'], end, end);
    expect(step).toMatchObject({ state: 'failed', reason: 'the new code is broken' });

    expect(await catchUpSelfTests(broken, at(upgraded + 59 * 60_000))).toEqual([]);
    expect(await catchUpSelfTests(worker(renewed), at(upgraded + 60 * 60_000))).toMatchObject([
      { outcome: { done: 'ran walk-forward' } },
      { outcome: { done: 'ran contamination, stability' } },
    ]);
    expect(await ask('/api/self-test/walk-forward')).toMatchObject({ codeVersion: 'new', failure: null });
  });

  it('does not fail other tests, and serves only the messages of this service', async () => {
    const path = '/home/operator/history';
    const compute: SelfTestDeps['compute'] = async (input, names) => {
      if (names.some((name) => name === 'contamination')) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
      return computeShortly(input, names);
    };
    const [, diagnostics] = await catchUpSelfTests(worker({ compute }), at(NOON()));
    const body = 'it failed; the log says why';
    expect(diagnostics.outcome).toEqual({ failed: body });
    expect((await docs()).map(({ test, state, reason }) => [test, state, reason])).toEqual(
      [...SELF_TESTS].sort().map((test) => (test === 'contamination' ? [test, 'failed', body] : [test, 'done', null])),
    );
    await expect(ask('/api/self-test/contamination')).rejects.toMatchObject({
      message: `No result of contamination yet: ${body}`,
    });
    expect(JSON.stringify(await ask(PATHS[0]))).not.toContain(path);
  });

  it('stays on time when other code recomputes it', async () => {
    const due = getSelfTestDueMs('backtest', end);
    await runStep(worker({ codeVersion: 'old', startedAt: new Date(due - 2) }), 'backtest', end, at(due));
    const renewed = { codeVersion: 'new', startedAt: new Date(NOON()) };
    await runStep(worker(renewed), 'backtest', end, at(NOON()));
    const [dueAt, ranAt] = [due, NOON()].map((ms) => new Date(ms).toISOString());
    expect(await ask('/api/self-test/walk-forward')).toMatchObject({ codeVersion: 'new', late: false, firstRanAt: dueAt, ranAt });
  });

  it('is recomputed and not served while its result has another format', async () => {
    const before = { startedAt: new Date(NOON() - 2) };
    await catchUpSelfTests(worker(before), at(NOON()));
    await service.database.db.collection('self_tests').updateMany({}, { $set: { format: 0, result: { answer: 1 } } });
    for (const path of PATHS.slice(1)) await expect(ask(path), path).rejects.toMatchObject({ code: 'STEP_WAITING' });
    const { tests, selfReport } = await ask(PATHS[0]);
    expect([new Set(tests.map(({ state }: SelfTestDoc) => state)), selfReport]).toEqual([new Set(['waiting']), null]);
    expect(await catchUpSelfTests(worker({ startedAt: new Date(NOON() + 1) }), at(NOON() + 2))).toHaveLength(2);
    for (const path of PATHS) await ask(path);
  });

  it('of other code replaces an older one once, without alternating', async () => {
    await catchUpSelfTests(worker({ codeVersion: 'old', startedAt: new Date(NOON() - 2) }), at(NOON()));
    const renewed = { codeVersion: 'new', startedAt: new Date(NOON() + 1) };
    const fresh = await catchUpSelfTests(worker(renewed), at(NOON() + 2));
    expect(fresh.map(({ outcome }) => outcome)).toEqual([
      { done: 'ran polymarket-comparison, walk-forward' },
      { done: 'ran self-report, contamination, stability' },
    ]);
    expect(new Set((await docs()).map(({ codeVersion }) => codeVersion))).toEqual(new Set(['new']));
    expect(await catchUpSelfTests(worker({ codeVersion: 'old', startedAt: new Date(NOON() - 2) }), at(NOON() + 3))).toEqual([]);
  });

  it('of other data replaces the earlier one on request', async () => {
    await runStep(worker(), 'backtest', end, at(NOON()));
    const other = { ...service.pipeline.market };
    other.inputs = async (day, ms) => ({ ...(await service.pipeline.market.inputs(day, ms)), digest: `0x${'d'.repeat(64)}` });
    expect(await runStep(worker({}, { market: other }), 'backtest', end, at(NOON()))).toEqual({ done: 'ran walk-forward' });
    expect((await ask('/api/self-test/walk-forward')).dataDigest).toBe(`0x${'d'.repeat(64)}`);
  });
});
