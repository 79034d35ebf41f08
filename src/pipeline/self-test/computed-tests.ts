import { isOracleError, reasonOf } from '../../errors.ts';
import type { Day } from '../../forecast/day.ts';
import { BOOTSTRAP_SEED } from '../../forecast/statistics/block-bootstrap.ts';
import type { DayInputs } from '../../market/inputs.ts';
import { RESULT_FORMAT, type SelfTestName } from '../../record/self-test/self-test.ts';
import { type Ground, stands } from '../../record/self-test/store.ts';
import type { PipelineParts } from '../parts.ts';
import type { ComputationName, Computed } from './computations.ts';
import { historyThrough, pointInTimeFrames, vintagesOf } from './history.ts';
import { resultOf, verdictOf } from './results.ts';
import type { Finding } from './run.ts';

/** The tests that are computed from the history alone, and what of. */
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
  /** The day that they are due on: the history ends with the day before, or where the data does. */
  day: Day;
  now: Date;
}

/** The history that tests of a day are computed from, as it is now. Errors as `historyThrough`. */
export async function historyOf({ market }: Pick<PipelineParts, 'market'>, day: Day, now: Date): Promise<DayInputs> {
  const { lastDay } = await market.coverage();
  return historyThrough(market, lastDay === null ? day - 1 : Math.min(day - 1, lastDay), now);
}

/**
 * Computes those of these tests that this code has not run on this history, each for itself: one that brings its thread down takes no
 * other with it. Each finding is handed out when it is there. @throws what can be tried again; the rest is in the findings
 */
export async function* computeDue(parts: PipelineParts, { tests, day, now }: DueTests): AsyncGenerator<Finding> {
  const history = await historyOf(parts, day, now);
  for (const test of tests) {
    const standing = await parts.selfTests.store.of(test, day);
    if (standing === null || !stands(standing, groundOf(parts, history))) yield await computeOne(parts, test, history);
  }
}

/** What this code makes a test of now. */
function groundOf({ selfTests }: PipelineParts, { digest }: Pick<DayInputs, 'digest'>): Ground {
  return { codeVersion: selfTests.codeVersion, dataDigest: digest, format: RESULT_FORMAT };
}

async function computeOne(parts: PipelineParts, test: ComputedTest, history: DayInputs): Promise<Finding> {
  const { market, selfTests, log } = parts;
  try {
    const pointInTime = test === 'contamination' ? await pointInTimeFrames(market, history.frame) : [];
    const input = { frame: history.frame, pointInTime, vintages: vintagesOf(market) };
    return found(test, history, await selfTests.compute(input, COMPUTED_TESTS[test]));
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    log.error({ err: error, test }, 'self-test failed');
    return { ...originOf(test, history), verdict: null, result: null, durationMs: 0, reason: reasonOf(error) };
  }
}

function found(test: ComputedTest, history: DayInputs, computed: readonly Computed[]): Finding {
  const durationMs = computed.reduce((sum, one) => sum + one.durationMs, 0);
  return { ...originOf(test, history), verdict: verdictOf(test, computed), result: resultOf(test, computed), durationMs, reason: null };
}

function originOf(test: ComputedTest, { frame, day, digest }: DayInputs) {
  return { test, dataDigest: digest, firstDay: frame.firstDay, lastDay: day, seed: BOOTSTRAP_SEED, replayed: false };
}
