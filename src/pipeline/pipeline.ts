import { getErrorMessage, isOracleError, OracleError, toPublicReason } from '../errors.ts';
import { chooseAuditDays, type PointInTimeFrame, type Vintages } from '../forecast/backtest/contamination.ts';
import { BOOTSTRAP_SEED } from '../forecast/bootstrap.ts';
import { type Day, formatDay, HOUR_MS, toDay, toInstantMs } from '../forecast/day.ts';
import type { InputFrame } from '../forecast/inputs.ts';
import { HORIZONS } from '../forecast/model.ts';
import { type FeedKind, getSignalTimeMs } from '../market/feed.ts';
import type { DayInputs } from '../market/inputs.ts';
import type { Market } from '../market/market.ts';
import { inSpan } from '../platform/tracing.ts';
import type { DayDoc } from '../record/forecast-doc.ts';
import { RESULT_FORMAT, SELF_TESTS, type SelfTestDoc, type SelfTestName } from '../record/schemas/self-tests.ts';
import {
  composePolymarketComparison,
  formatSelfTestId,
  getNewestDueDay,
  getSelfTestDueMs,
  getSelfTestFailure,
  isUpToDate,
  SELF_TEST_STEPS,
  type SelfTestRun,
  type SelfTestStep,
} from '../record/self-tests.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import { createLiveContext, type DayStepName, getStepDueMs, isLateForDue, type PipelineContext, type StepContext } from './forecaster.ts';
import { composeSelfReport, gatherSelfReportData } from './self-report.ts';
import type { ComputationName, ComputedReport, TimedReport } from './self-test-process.ts';
import type { StepName, StepOutcome } from './step-runs.ts';
import { runOpenWindowStep, runReputationStep, runResolveStep, runSettleStep } from './steps/outcome.ts';
import { listDueBriefs, listDueWeeks, runBriefStep, runWeeklyReportStep } from './steps/reports.ts';
import { runAttestStep, runSignalStep } from './steps/signal.ts';
import { runWagerStep } from './steps/wager.ts';

/** Runs every step that is due and not done, in order. With nothing due it costs a few reads. */
export async function catchUp(deps: PipelineContext, context: StepContext): Promise<StepReport[]> {
  const today = toDay(context.now.getTime());
  if (!context.replayed) await tryFollowChain(deps);
  const reports: StepReport[] = [];
  const run = async (step: StepName, day: Day): Promise<StepOutcome> => {
    const outcome = await runStep(deps, step, day, context);
    reports.push({ step, day, outcome });
    return outcome;
  };
  for (const day of await listDueDays(deps, context)) {
    // The sequence has no gaps: a day that is not done blocks the later ones.
    if (!('done' in (await run('signal', day)))) break;
  }
  if (mayAttest(context, today) && (await deps.record.listUnattestedDays()).length > 0) await run('attest', today);
  for (const day of await listWagerDays(deps, context)) await run('wager', day);
  reports.push(...(await runOutcomeCheck(deps, context)));
  if ((await listDueWeeks(deps, context)).length > 0) await run('weekly-report', today);
  for (const day of await listDueBriefs(deps, context)) await run('brief', day);
  return reports;
}

/** Without the chain nothing is known of it, and the steps that need it wait for themselves. */
async function tryFollowChain({ followChain, log }: PipelineContext): Promise<void> {
  await followChain().catch((error: unknown) => log.warn({ err: error }, 'looking for reorganisations of the chain failed'));
}

async function listDueDays(deps: PipelineContext, context: StepContext): Promise<Day[]> {
  const today = toDay(context.now.getTime());
  const lastDue = context.now.getTime() >= getStepDueMs('signal', today) ? today : today - 1;
  const { lastDay } = await deps.market.coverage();
  const last = Math.min(lastDue, lastDay ?? lastDue);
  const recorded = await deps.record.findLastDay();
  // An empty record starts at the first open day, or at the genesis day that a killed process claimed before its first write.
  const first = recorded === null ? ((await deps.record.findGenesisDay()) ?? today) : await findFirstUnwrittenDay(deps, recorded);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** The last day itself when a crash left some of its forecasts unwritten. */
async function findFirstUnwrittenDay({ record }: PipelineContext, lastDay: Day): Promise<Day> {
  return (await record.listByDay(lastDay)).length < HORIZONS.length ? lastDay : lastDay + 1;
}

/** Between the signal and its commitment there is no backlog: the `attest` job has its own time. */
function mayAttest({ now }: StepContext, today: Day): boolean {
  return now.getTime() < getStepDueMs('signal', today) || now.getTime() >= getStepDueMs('attest', today);
}

/** Upper bound of days looked back at: after a longer outage, earlier days get no wager. */
const MAX_UNDECIDED_DAYS = 31;

/** Days whose wager is undecided or unplaced: those since the newest wager once due, and those that a crash left in `DECIDED`. */
async function listWagerDays({ record, wagers }: PipelineContext, { now }: StepContext): Promise<Day[]> {
  const recorded = await record.findLastDay();
  const unplaced = await wagers.listUnplacedDays();
  if (recorded === null) return unplaced;
  const last = now.getTime() < getStepDueMs('wager', recorded) ? recorded - 1 : recorded;
  const newest = await wagers.findNewestDay();
  const first = newest === null ? recorded : Math.max(newest + 1, last - MAX_UNDECIDED_DAYS + 1);
  return [...unplaced, ...Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)];
}

type Step = (deps: PipelineContext, day: Day, context: StepContext) => Promise<string>;

/** Every step by name, in the order of the day. Only signal, wager and brief use the day; the others act on the clock and the record. */
export const STEPS: Record<StepName, Step> = {
  signal: async (deps, day, context) => formatDayOutcome(await runSignalStep(deps, day, context)),
  attest: async (deps, _day, context) => formatList('committed', (await runAttestStep(deps, context)).map(formatDay)),
  wager: async (deps, day, context) => formatWagerOutcome(await runWagerStep(deps, day, context)),
  'open-window': async (deps, _day, context) => formatCount('closes at window open recorded', await runOpenWindowStep(deps, context)),
  resolve: async (deps, _day, context) => formatCount('forecasts resolved', await runResolveStep(deps, context)),
  settle: async (deps, _day, context) => formatCount('wagers settled', await runSettleStep(deps, context)),
  reputation: async (deps, _day, context) => formatCount('outcomes reported', await runReputationStep(deps, context)),
  async brief(deps, day, context) {
    const { generatedAt, late } = await runBriefStep(deps, day, context);
    return `made at ${generatedAt}${late ? ', late' : ''}`;
  },
  'weekly-report': async (deps, _day, context) => formatList('reported on', await runWeeklyReportStep(deps, context)),
  backtest: async (deps, _day, context) => formatList('ran', await runSelfTestStep(deps, 'backtest', context)),
  diagnostics: async (deps, _day, context) => formatList('ran', await runSelfTestStep(deps, 'diagnostics', context)),
};

export const STEP_NAMES = Object.keys(STEPS) as StepName[];

export const OUTCOME_STEPS = ['open-window', 'resolve', 'settle', 'reputation'] as const satisfies StepName[];

export interface StepReport {
  step: StepName;
  day: Day;
  outcome: StepOutcome;
}

/** Runs one step and records its outcome. @throws OracleError DATABASE_UNAVAILABLE and others when the outcome cannot be recorded */
export function runStep(deps: PipelineContext, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  return inSpan({ name: `step ${step}` }, () => runStepInSpan(deps, step, day, context));
}

async function runStepInSpan(deps: PipelineContext, step: StepName, day: Day, context: StepContext): Promise<StepOutcome> {
  const holdReason = context.replayed ? null : ((await context.time.findDisagreement(context.taken)) ?? (await deps.findHoldReason()));
  if (holdReason !== null) return { waiting: holdReason };
  // What a step reads in memory is as new as what it reads in the database.
  if (!context.replayed) await deps.record.known.catchUp();
  const outcome = await deps.runs.runAndRecord(step, day, context, () => STEPS[step](deps, day, context));
  if (!context.replayed) await tryPublishChanges(deps);
  return outcome;
}

/** On failure the outbox entries stay with their documents and are published later. */
async function tryPublishChanges({ publishChanges, log }: PipelineContext): Promise<void> {
  await publishChanges().catch((error: unknown) => log.error({ err: error }, 'publishing changes failed: it will be retried'));
}

/** Runs the steps of the outcome check; one that waits or fails does not block the others. */
export async function runOutcomeCheck(deps: PipelineContext, context: StepContext): Promise<StepReport[]> {
  const day = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of OUTCOME_STEPS) reports.push({ step, day, outcome: await runStep(deps, step, day, context) });
  return reports;
}

function formatDayOutcome({ missedBecause, signalAt, late }: DayDoc): string {
  if (missedBecause !== null) return `missed: ${missedBecause}`;
  return `forecast at ${signalAt.toISOString()}${late ? ', late' : ''}`;
}

function formatWagerOutcome(wager: WagerDoc | null): string {
  if (wager === null) return 'nothing decided: no forecast of that day, or new wagers are off or paused';
  return wager.skippedBecause === null ? wager.state : `${wager.state}: ${wager.skippedBecause}`;
}

function formatList(done: string, items: string[]): string {
  return items.length === 0 ? 'nothing to do' : `${done} ${items.join(', ')}`;
}

function formatCount(done: string, count: number): string {
  return count === 0 ? 'nothing to do' : `${count} ${done}`;
}

const SELF_TEST_STEP_NAMES = ['backtest', 'diagnostics'] as const satisfies SelfTestStep[];

const RETRY_MS = 3_600_000;

/** Runs due self-tests without a result. With nothing due it costs a few reads. */
export async function catchUpSelfTests(deps: PipelineContext, context: StepContext): Promise<StepReport[]> {
  const today = toDay(context.now.getTime());
  const reports: StepReport[] = [];
  for (const step of SELF_TEST_STEP_NAMES) {
    if (await hasDueTests(deps, step, context.now)) {
      reports.push({ step, day: today, outcome: await runStep(deps, step, today, context) });
    }
  }
  return reports;
}

/** Computes due self-tests that need no record while a replay runs. Failures are logged; the step retries and reports them. */
export async function prepareSelfTests(deps: PipelineContext, now: Date): Promise<void> {
  for (const step of SELF_TEST_STEP_NAMES) {
    try {
      if ((await deps.time.findDisagreement()) !== null) return;
      if (await hasDueTests(deps, step, now)) await runComputedTests(deps, step, now);
    } catch (error) {
      deps.log.info({ step, reason: getErrorMessage(error) }, 'self-tests are not computed yet');
    }
  }
}

async function hasDueTests(deps: PipelineContext, step: SelfTestStep, now: Date): Promise<boolean> {
  const day = await getDueDay(deps, step, now);
  const runs = await Promise.all(listTestsOfStep(step).map((test) => deps.selfTests.store.findRun(test, day)));
  if (runs.some((run) => run === null || isStale(deps, run, now))) return true;
  return isOfChangedData(deps, runs as SelfTestRun[], { day, now });
}

/** Results of other code count only from before this process started: two versions side by side would replace each other's forever. */
function isStale({ selfTests: { codeVersion, startedAt } }: PipelineContext, run: SelfTestRun, now: Date): boolean {
  const failure = getSelfTestFailure(run);
  const isOurs = failure?.codeVersion === codeVersion;
  const isOfOtherCode = run.codeVersion !== codeVersion || run.format !== RESULT_FORMAT;
  if (isOfOtherCode && !isOurs && run.ranAt < startedAt) return true;
  return failure !== null && (isOurs || run.state === 'failed') && failure.at.getTime() <= now.getTime() - RETRY_MS;
}

/** Whether the files of an ended feed were corrected since the last run: no newer due day would detect it. */
async function isOfChangedData(
  deps: PipelineContext,
  runs: readonly SelfTestRun[],
  { day, now }: { day: Day; now: Date },
): Promise<boolean> {
  const { market, selfTests } = deps;
  if ((await market.coverage()).lastDay === null) return false;
  const older = runs.filter(({ test, failure, ranAt }) => isComputed(test) && failure === null && ranAt < selfTests.startedAt);
  if (older.length === 0) return false;
  try {
    const { digest } = await readTestHistory(deps, day, now);
    return older.some(({ dataDigest }) => dataDigest !== digest);
  } catch (error) {
    // Unreadable history counts as changed; the step reports the error.
    if (isOracleError(error)) return true;
    throw error;
  }
}

/** Steps that take a day; the others act on the clock and the record. */
export const SINGLE_DAY_STEPS: readonly string[] = ['signal', 'wager', 'brief'] satisfies StepName[];

/** By default for today; completed work is not repeated. @throws OracleError INPUT_INVALID naming `day`; CONFLICT before the due time */
export async function runStepManually(deps: PipelineContext, { step, day, now }: { step: StepName; day?: Day | undefined; now: Date }) {
  const today = toDay(now.getTime());
  if (day !== undefined) await requireValidDay(deps, step, day, today);
  const of = day ?? today;
  requireDueTime(step, of, now);
  return { step, day: of, outcome: await runStep(deps, step, of, createLiveContext(deps, now)) };
}

async function requireValidDay({ record }: PipelineContext, step: StepName, day: Day, today: Day): Promise<void> {
  if (!SINGLE_DAY_STEPS.includes(step)) throw invalidDayError(`${step} takes no day: it does what is due now`);
  if (day > today) throw invalidDayError(`${formatDay(day)} lies ahead`);
  const genesis = await record.findGenesisDay();
  if (genesis !== null && day < genesis) throw invalidDayError(`the record begins with ${formatDay(genesis)}`);
}

function invalidDayError(problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `"day": ${problem}`, { field: 'day' });
}

/** A result written before its due time would be final. */
function requireDueTime(step: StepName, day: Day, now: Date): void {
  const dueMs = findDueMs(step, day, now.getTime());
  if (dueMs === null || now.getTime() >= dueMs) return;
  const due = new Date(dueMs).toISOString();
  throw new OracleError('CONFLICT', `It is too early: ${step} of ${formatDay(day)} is due at ${due}`, {
    suggestedAction: 'Wait until then; the schedule runs the step by itself.',
    details: { dueAt: due },
  });
}

function findDueMs(step: StepName, day: Day, nowMs: number): number | null {
  if (SINGLE_DAY_STEPS.includes(step)) return getStepDueMs(step as DayStepName, day);
  // Leftovers of earlier days may be attested at any time except between today's signal and its commitment.
  return step === 'attest' && nowMs >= getStepDueMs('signal', day) ? getStepDueMs('attest', day) : null;
}

type RecordedFinding = Pick<SelfTestDoc, 'verdict' | 'result'> & Partial<Pick<SelfTestDoc, 'firstDay' | 'lastDay' | 'replayed'>>;

const RECORDED_TESTS = {
  'polymarket-comparison': async (deps, _day, now) => {
    const { report, days } = composePolymarketComparison(deps, now);
    return { ...toFinding(report, days), replayed: days.some((pin) => pin.replayed) };
  },
  'self-report': async (deps, day, now) => {
    const week = await gatherSelfReportData(deps, day, now);
    const report = composeSelfReport(week);
    return { ...toFinding(report, week.days), replayed: report.record.replayed > 0 };
  },
} as const satisfies Partial<Record<SelfTestName, (deps: PipelineContext, day: Day, now: Date) => Promise<RecordedFinding>>>;

function listTestsOfStep(step: SelfTestStep): SelfTestName[] {
  return SELF_TESTS.filter((test) => SELF_TEST_STEPS[test] === step);
}

async function getDueDay({ market }: PipelineContext, step: SelfTestStep, now: Date): Promise<Day> {
  return getNewestDueDay(step, now.getTime(), (await market.coverage()).lastDay);
}

/** Tests of the record run first: they wait for no history. @throws OracleError INTERNAL when a test failed, retryable without history */
async function runSelfTestStep(deps: PipelineContext, step: SelfTestStep, { now, time }: StepContext): Promise<SelfTestName[]> {
  const day = await getDueDay(deps, step, now);
  await time.requireReached(getSelfTestDueMs(step, day), `The ${step} of ${formatDay(day)}`);
  const recorded = await saveFindings(deps, { step, day, now }, runDueRecordedTests(deps, { step, day, now }));
  const runs = [...recorded, ...(await runComputedTests(deps, step, now))];
  const failed = runs.find(({ state }) => state === 'failed');
  if (failed !== undefined) throw new OracleError('INTERNAL', failed.reason ?? 'A self-test could not be run');
  return runs.map(({ test }) => test);
}

/** Runs the computed tests of a step; concurrent callers of this process share one run. Errors as `runSelfTestStep`. */
async function runComputedTests(deps: PipelineContext, step: SelfTestStep, now: Date): Promise<SelfTestRun[]> {
  const day = await getDueDay(deps, step, now);
  return deps.selfTests.queue.run(formatSelfTestId(listTestsOfStep(step)[0], day), () => {
    const findings = computeDueTests(deps, { tests: listTestsOfStep(step).filter(isComputed), day, now });
    return saveFindings(deps, { step, day, now }, findings);
  });
}

async function* runDueRecordedTests(deps: PipelineContext, { step, day, now }: DueRun): AsyncGenerator<SelfTestFinding> {
  const { store, codeVersion } = deps.selfTests;
  for (const test of listTestsOfStep(step)) {
    if (isComputed(test)) continue;
    const stored = await store.findRun(test, day);
    if (stored !== null && isUpToDate(stored, { codeVersion, dataDigest: null, format: RESULT_FORMAT })) continue;
    yield await runRecordedTest(deps, test, { day, now });
  }
}

async function runRecordedTest(deps: PipelineContext, test: keyof typeof RECORDED_TESTS, { day, now }: { day: Day; now: Date }) {
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

async function saveFindings({ selfTests, market }: PipelineContext, due: DueRun, findings: AsyncIterable<SelfTestFinding>) {
  const runs: SelfTestRun[] = [];
  for await (const finding of findings) {
    const doc: SelfTestDoc = {
      ...finding,
      ...buildRunFields(finding, due),
      codeVersion: selfTests.codeVersion,
      source: market.source,
      simulated: market.kind === 'simulated',
    };
    const stored = await selfTests.store.saveRun(doc);
    runs.push(stored.failure === null ? stored : doc);
  }
  return runs;
}

function buildRunFields({ test, reason }: SelfTestFinding, { step, day, now }: DueRun) {
  const dueMs = getSelfTestDueMs(step, day);
  const times = { dueAt: new Date(dueMs), ranAt: now, firstRanAt: now, late: isLateForDue(dueMs, now) };
  const state = reason === null ? ('done' as const) : ('failed' as const);
  return { _id: formatSelfTestId(test, day), day, ...times, state, failure: null, format: RESULT_FORMAT };
}

function toFinding(report: { verdict: string }, days: readonly { day: Day }[]) {
  return { verdict: report.verdict, result: { report }, firstDay: days[0]?.day ?? null, lastDay: days.at(-1)?.day ?? null };
}

const DEFAULT_HORIZON_DAYS = 7;

type SelfTestFinding = Pick<
  SelfTestDoc,
  'test' | 'verdict' | 'result' | 'dataDigest' | 'firstDay' | 'lastDay' | 'replayed' | 'seed' | 'durationMs'
> & {
  reason: string | null;
};

const COMPUTED_TESTS = {
  'walk-forward': ['walk-forward', 'overfitting'],
  contamination: ['contamination'],
  stability: ['stability'],
} as const satisfies Partial<Record<SelfTestName, readonly ComputationName[]>>;

type ComputedTest = keyof typeof COMPUTED_TESTS;

function isComputed(test: SelfTestName): test is ComputedTest {
  return test in COMPUTED_TESTS;
}

interface DueTests {
  tests: readonly ComputedTest[];
  day: Day;
  now: Date;
}

async function readTestHistory({ market }: PipelineContext, day: Day, now: Date): Promise<DayInputs> {
  const { lastDay } = await market.coverage();
  return readHistoryThrough(market, lastDay === null ? day - 1 : Math.min(day - 1, lastDay), now);
}

/** Tests that this code has not run on this history, each on its own, so that a crash fails one only. @throws retryable errors */
async function* computeDueTests(deps: PipelineContext, { tests, day, now }: DueTests): AsyncGenerator<SelfTestFinding> {
  const history = await readTestHistory(deps, day, now);
  for (const test of tests) {
    const stored = await deps.selfTests.store.findRun(test, day);
    const basis = { codeVersion: deps.selfTests.codeVersion, dataDigest: history.digest, format: RESULT_FORMAT };
    if (stored === null || !isUpToDate(stored, basis)) yield await computeTest(deps, test, history);
  }
}

async function computeTest(deps: PipelineContext, test: ComputedTest, history: DayInputs): Promise<SelfTestFinding> {
  const { market, selfTests, log } = deps;
  try {
    const pointInTime = test === 'contamination' ? await readPointInTimeFrames(market, history.frame) : [];
    const input = { frame: history.frame, pointInTime, vintages: getVintages(market) };
    return toComputedFinding(test, history, await selfTests.compute(input, COMPUTED_TESTS[test]));
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    log.error({ err: error, test }, 'self-test failed');
    return { ...toFindingOrigin(test, history), verdict: null, result: null, durationMs: 0, reason: toPublicReason(error) };
  }
}

function toComputedFinding(test: ComputedTest, history: DayInputs, computed: readonly TimedReport[]): SelfTestFinding {
  const durationMs = computed.reduce((sum, one) => sum + one.durationMs, 0);
  return {
    ...toFindingOrigin(test, history),
    verdict: composeVerdict(test, computed),
    result: composeResult(test, computed),
    durationMs,
    reason: null,
  };
}

function toFindingOrigin(test: ComputedTest, { frame, day, digest }: DayInputs) {
  return { test, dataDigest: digest, firstDay: frame.firstDay, lastDay: day, seed: BOOTSTRAP_SEED, replayed: false };
}

function composeResult(test: ComputedTest, computed: readonly TimedReport[]): object {
  const report = findReport(computed, test);
  return test === 'walk-forward' ? { report, overfitting: findReport(computed, 'overfitting') } : { report };
}

/** The verdict in a line; of the walk-forward also the number of folds and the verdict of the default horizon. */
function composeVerdict(test: ComputedTest, computed: readonly TimedReport[]): string {
  const { verdict } = findReport(computed, test);
  if (test !== 'walk-forward') return verdict;
  const { folds, expectedFolds, horizons } = findReport(computed, 'walk-forward');
  const { horizon, verdict: horizonVerdict } = horizons.find(({ horizonDays }) => horizonDays === DEFAULT_HORIZON_DAYS)!;
  return `${folds} of ${expectedFolds} folds; ${verdict}; ${horizon}: ${horizonVerdict}`;
}

function findReport<Name extends ComputationName>(computed: readonly TimedReport[], name: Name): ComputedReport<Name> {
  return computed.find((one) => one.name === name)!.report as ComputedReport<Name>;
}

export function readHistoryThrough(market: Market, lastDay: Day, now: Date): Promise<DayInputs> {
  return market.inputs(lastDay, now.getTime());
}

/** As available at 21:35 UTC of each audited day; else with the daily close, and without both the day is skipped. */
export async function readPointInTimeFrames(market: Market, history: InputFrame): Promise<PointInTimeFrame[]> {
  const frames: PointInTimeFrame[] = [];
  for (const day of chooseAuditDays(history)) {
    const inputs =
      (await readInputsAt(market, day, getSignalTimeMs(day))) ?? (await readInputsAt(market, day, toInstantMs(day + 1) + HOUR_MS));
    if (inputs !== null) frames.push({ day, frame: inputs.frame });
  }
  return frames;
}

const VINTAGES_BY_FEED: Record<FeedKind, Vintages> = { live: 'collected', simulated: 'made', csv: 'none' };

export function getVintages({ kind }: Pick<Market, 'kind'>): Vintages {
  return VINTAGES_BY_FEED[kind];
}

async function readInputsAt(market: Market, day: Day, atMs: number): Promise<DayInputs | null> {
  try {
    return await market.inputs(day, atMs);
  } catch (error) {
    if (isOracleError(error, 'PRICE_UNAVAILABLE') || isOracleError(error, 'HISTORY_TOO_SHORT')) return null;
    throw error;
  }
}
