import type { Day } from '../../forecast/day.ts';
import { BOOTSTRAP_SEED } from '../../forecast/math/block-bootstrap.ts';
import type { DayInputs } from '../../market/inputs/day-inputs.ts';
import { isOracleError, toPublicReason } from '../../platform/errors.ts';
import { RESULT_FORMAT, type SelfTestDoc, type SelfTestName } from '../../record/self-test/self-test-doc.ts';
import { isUpToDate, type SelfTestBasis } from '../../record/self-test/store.ts';
import type { PipelineDeps } from '../deps.ts';
import type { ComputationName, ComputedReport, TimedReport } from './computations.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from './history.ts';

const DEFAULT_HORIZON_DAYS = 7;

export type SelfTestFinding = Pick<
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

export type ComputedTest = keyof typeof COMPUTED_TESTS;

export function isComputed(test: SelfTestName): test is ComputedTest {
  return test in COMPUTED_TESTS;
}

export interface DueTests {
  tests: readonly ComputedTest[];
  day: Day;
  now: Date;
}

export async function readTestHistory({ market }: Pick<PipelineDeps, 'market'>, day: Day, now: Date): Promise<DayInputs> {
  const { lastDay } = await market.coverage();
  return readHistoryThrough(market, lastDay === null ? day - 1 : Math.min(day - 1, lastDay), now);
}

/** Tests that this code has not run on this history, each on its own, so that a crash fails one only. @throws retryable errors */
export async function* computeDueTests(deps: PipelineDeps, { tests, day, now }: DueTests): AsyncGenerator<SelfTestFinding> {
  const history = await readTestHistory(deps, day, now);
  for (const test of tests) {
    const stored = await deps.selfTests.store.findRun(test, day);
    if (stored === null || !isUpToDate(stored, buildBasis(deps, history))) yield await computeTest(deps, test, history);
  }
}

function buildBasis({ selfTests }: PipelineDeps, { digest }: Pick<DayInputs, 'digest'>): SelfTestBasis {
  return { codeVersion: selfTests.codeVersion, dataDigest: digest, format: RESULT_FORMAT };
}

async function computeTest(deps: PipelineDeps, test: ComputedTest, history: DayInputs): Promise<SelfTestFinding> {
  const { market, selfTests, log } = deps;
  try {
    const pointInTime = test === 'contamination' ? await readPointInTimeFrames(market, history.frame) : [];
    const input = { frame: history.frame, pointInTime, vintages: getVintages(market) };
    return toFinding(test, history, await selfTests.compute(input, COMPUTED_TESTS[test]));
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    log.error({ err: error, test }, 'self-test failed');
    return { ...toFindingOrigin(test, history), verdict: null, result: null, durationMs: 0, reason: toPublicReason(error) };
  }
}

function toFinding(test: ComputedTest, history: DayInputs, computed: readonly TimedReport[]): SelfTestFinding {
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
