import { isOracleError, messageOf } from '../../errors.ts';
import type { Day } from '../../forecast/day.ts';
import { BOOTSTRAP_SEED } from '../../forecast/statistics/block-bootstrap.ts';
import type { DayInputs } from '../../market/inputs.ts';
import type { SelfTestName } from '../../record/self-test/self-test.ts';
import { sameGround } from '../../record/self-test/store.ts';
import type { PipelineParts } from '../parts.ts';
import type { ComputationName, Computed } from './computations.ts';
import { historyThrough, pointInTimeFrames } from './history.ts';
import { resultOf, verdictOf } from './results.ts';
import type { Finding } from './run.ts';

/** The tests that are computed from the history alone, and what of. */
export const COMPUTED_TESTS = {
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

/** Computes those of these tests that this code has not run on this history. @throws what can be tried again; the rest is in the findings */
export async function computeDue(parts: PipelineParts, { tests, day, now }: DueTests): Promise<Finding[]> {
  const { lastDay } = await parts.market.coverage();
  const history = await historyThrough(parts.market, lastDay === null ? day - 1 : Math.min(day - 1, lastDay), now);
  const todo = await missing(parts, { tests, day, now }, history);
  if (todo.length === 0) return [];
  const pointInTime = todo.includes('contamination') ? await pointInTimeFrames(parts.market, history.frame) : [];
  const names = todo.flatMap((test) => COMPUTED_TESTS[test]);
  try {
    const computed = await parts.selfTests.compute({ frame: history.frame, pointInTime }, names);
    return todo.map((test) => found(test, history, computed));
  } catch (error) {
    if (isOracleError(error) && error.retryable) throw error;
    parts.log.error({ err: error, tests: todo }, 'self-tests failed');
    return todo.map((test) => ({ ...groundOf(test, history), verdict: null, result: null, durationMs: 0, reason: messageOf(error) }));
  }
}

async function missing({ selfTests }: PipelineParts, { tests, day }: DueTests, { digest }: DayInputs): Promise<ComputedTest[]> {
  const ground = { codeVersion: selfTests.codeVersion, dataDigest: digest };
  const standing = await Promise.all(tests.map((test) => selfTests.store.of(test, day)));
  return tests.filter((_, index) => {
    const run = standing[index];
    return run?.state !== 'done' || !sameGround(run, ground);
  });
}

function found(test: ComputedTest, history: DayInputs, computed: readonly Computed[]): Finding {
  const mine = computed.filter(({ name }) => (COMPUTED_TESTS[test] as readonly ComputationName[]).includes(name));
  const durationMs = mine.reduce((sum, one) => sum + one.durationMs, 0);
  return { ...groundOf(test, history), verdict: verdictOf(test, mine), result: resultOf(test, mine), durationMs, reason: null };
}

function groundOf(test: ComputedTest, { frame, day, digest }: DayInputs) {
  return { test, dataDigest: digest, firstDay: frame.firstDay, lastDay: day, seed: BOOTSTRAP_SEED, replayed: false };
}
