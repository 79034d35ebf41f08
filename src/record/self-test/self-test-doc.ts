import type { Day } from '../../forecast/day.ts';

export const SELF_TESTS = ['walk-forward', 'contamination', 'stability', 'polymarket-comparison', 'self-report'] as const;

export type SelfTestName = (typeof SELF_TESTS)[number];

/** Version of the stored results: incremented with every change of a report schema. Results of other versions are kept, but not served. */
export const RESULT_FORMAT = 1;

export interface SelfTestFailure {
  at: Date;
  reason: string;
  codeVersion: string;
}

/** One run of a self-test. `_id` is `<test>:<YYYY-MM-DD>` of its due day. */
export interface SelfTestDoc<Result = object> {
  _id: string;
  test: SelfTestName;
  day: Day;
  dueAt: Date;
  ranAt: Date;
  /** First result of that due day; earlier than `ranAt` when other code or data replaced it. */
  firstRanAt: Date;
  durationMs: number;
  late: boolean;
  /** `failed`: the test could not run; a bad result is `done`. */
  state: 'done' | 'failed';
  reason: string | null;
  /** A later run, by other code or on other data, that failed while this result stands; null without one. */
  failure: SelfTestFailure | null;
  verdict: string | null;
  codeVersion: string;
  /** Digest of the history; null for tests of the record. */
  dataDigest: string | null;
  firstDay: Day | null;
  lastDay: Day | null;
  source: string;
  simulated: boolean;
  replayed: boolean;
  seed: number | null;
  format: number;
  result: Result | null;
}
