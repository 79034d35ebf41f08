import { type Day, formatDay } from '../../forecast/day.ts';
import { isOracleError, OracleError, toPublicReason } from '../../platform/errors.ts';
import {
  formatSelfTestId,
  getNewestDueDay,
  getSelfTestDueMs,
  SELF_TEST_STEPS,
  type SelfTestStep,
} from '../../record/self-test/due-times.ts';
import { composePolymarketComparison } from '../../record/self-test/polymarket-comparison.ts';
import { RESULT_FORMAT, SELF_TESTS, type SelfTestDoc, type SelfTestName } from '../../record/self-test/self-test-doc.ts';
import { isUpToDate, type SelfTestRun } from '../../record/self-test/store.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';
import { isLateForDue } from '../schedule/step-times.ts';
import { computeDueTests, isComputed, type SelfTestFinding } from './computed-tests.ts';
import { composeSelfReport } from './self-report/compose.ts';
import { gatherSelfReportData } from './self-report/gather-data.ts';

type RecordedFinding = Pick<SelfTestDoc, 'verdict' | 'result'> & Partial<Pick<SelfTestDoc, 'firstDay' | 'lastDay' | 'replayed'>>;

const RECORDED_TESTS = {
  'polymarket-comparison': async ({ record, wagers, crowd, venue }, _day, now) => {
    const { report, days } = await composePolymarketComparison({ record, wagers, crowd, venue, now });
    return { ...toFinding(report, days), replayed: days.some((pin) => pin.replayed) };
  },
  'self-report': async (deps, day, now) => {
    const week = await gatherSelfReportData(deps, day, now);
    const report = composeSelfReport(week);
    return { ...toFinding(report, week.days), replayed: report.record.replayed > 0 };
  },
} as const satisfies Partial<Record<SelfTestName, (deps: PipelineDeps, day: Day, now: Date) => Promise<RecordedFinding>>>;

export function listTestsOfStep(step: SelfTestStep): SelfTestName[] {
  return SELF_TESTS.filter((test) => SELF_TEST_STEPS[test] === step);
}

export async function getDueDay({ market }: Pick<PipelineDeps, 'market'>, step: SelfTestStep, now: Date): Promise<Day> {
  return getNewestDueDay(step, now.getTime(), (await market.coverage()).lastDay);
}

/** Tests of the record run first: they wait for no history. @throws OracleError INTERNAL when a test failed, retryable without history */
export async function runSelfTestStep(deps: PipelineDeps, step: SelfTestStep, { now, time }: StepContext): Promise<SelfTestName[]> {
  const day = await getDueDay(deps, step, now);
  await time.requireReached(getSelfTestDueMs(step, day), `The ${step} of ${formatDay(day)}`);
  const runs = [...(await runRecordedTests(deps, step, now)), ...(await runComputedTests(deps, step, now))];
  const failed = runs.find(({ state }) => state === 'failed');
  if (failed !== undefined) throw new OracleError('INTERNAL', failed.reason ?? 'A self-test could not be run');
  return runs.map(({ test }) => test);
}

/** Runs the computed tests of a step; concurrent callers of this process share one run. Errors as `runSelfTestStep`. */
export async function runComputedTests(deps: PipelineDeps, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await getDueDay(deps, step, now);
  return deps.selfTests.queue.run(formatSelfTestId(listTestsOfStep(step)[0], day), () => {
    const findings = computeDueTests(deps, { tests: listTestsOfStep(step).filter(isComputed), day, now });
    return saveFindings(deps, { step, day, now }, findings);
  });
}

async function runRecordedTests(deps: PipelineDeps, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await getDueDay(deps, step, now);
  return saveFindings(deps, { step, day, now }, runDueRecordedTests(deps, { step, day, now }));
}

async function* runDueRecordedTests(deps: PipelineDeps, { step, day, now }: DueRun): AsyncGenerator<SelfTestFinding> {
  const { store, codeVersion } = deps.selfTests;
  for (const test of listTestsOfStep(step)) {
    if (isComputed(test)) continue;
    const stored = await store.findRun(test, day);
    if (stored !== null && isUpToDate(stored, { codeVersion, dataDigest: null, format: RESULT_FORMAT })) continue;
    yield await runRecordedTest(deps, test, { day, now });
  }
}

async function runRecordedTest(deps: PipelineDeps, test: keyof typeof RECORDED_TESTS, { day, now }: { day: Day; now: Date }) {
  const started = performance.now();
  const origin = { test, dataDigest: null, firstDay: null, lastDay: null, seed: null, replayed: false };
  const durationMs = () => Math.round(performance.now() - started);
  try {
    return { ...origin, ...(await RECORDED_TESTS[test](deps, day, now)), reason: null, durationMs: durationMs() };
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    deps.log.error({ err: error, test }, 'self-test failed');
    return { ...origin, verdict: null, result: null, reason: toPublicReason(error), durationMs: durationMs() };
  }
}

type DueRun = { step: SelfTestStep; day: Day; now: Date };

async function saveFindings({ selfTests, market }: PipelineDeps, due: DueRun, findings: AsyncIterable<SelfTestFinding>) {
  const runs: SelfTestRun[] = [];
  for await (const finding of findings) {
    const isFirst = (await selfTests.store.findNewestRun(finding.test)) === null;
    const doc: SelfTestDoc = {
      ...finding,
      ...buildRunFields(finding, due, isFirst),
      codeVersion: selfTests.codeVersion,
      source: market.source,
      simulated: market.kind === 'simulated',
    };
    const stored = await selfTests.store.saveRun(doc);
    runs.push(stored.failure === null ? stored : doc);
  }
  return runs;
}

/** The first run of a test is never late: nothing was due before it. */
function buildRunFields({ test, reason }: SelfTestFinding, { step, day, now }: DueRun, isFirst: boolean) {
  const dueMs = getSelfTestDueMs(step, day);
  const times = { dueAt: new Date(dueMs), ranAt: now, firstRanAt: now, late: !isFirst && isLateForDue(dueMs, now) };
  const state = reason === null ? ('done' as const) : ('failed' as const);
  return { _id: formatSelfTestId(test, day), day, ...times, state, failure: null, format: RESULT_FORMAT };
}

function toFinding(report: { verdict: string }, days: readonly { day: Day }[]) {
  return { verdict: report.verdict, result: { report }, firstDay: days[0]?.day ?? null, lastDay: days.at(-1)?.day ?? null };
}
