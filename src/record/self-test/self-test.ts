import type { Day } from '../../forecast/day.ts';

/** What the service tests about itself. */
export const SELF_TESTS = ['walk-forward', 'contamination', 'stability', 'polymarket-comparison', 'self-report'] as const;

export type SelfTestName = (typeof SELF_TESTS)[number];

/** One run of a self-test as it is kept. `_id` is `<test>:<YYYY-MM-DD>` of the day it was due. */
export interface SelfTestDoc<Result = object> {
  _id: string;
  test: SelfTestName;
  /** The day that it was due on. */
  day: Day;
  dueAt: Date;
  ranAt: Date;
  durationMs: number;
  /** Started later than it was due. */
  late: boolean;
  /** `failed`: it could not be run, for the reason given; what it found is in the result, whatever that is. */
  state: 'done' | 'failed';
  reason: string | null;
  /** What it found, in a line; null where it could not be run. */
  verdict: string | null;
  /** Version of the software, and digest of the code that computes. */
  codeVersion: string;
  /** Digest of the history that it was run on; null where that is the record. */
  dataDigest: string | null;
  /** First and last day of that history; null where there is none. */
  firstDay: Day | null;
  lastDay: Day | null;
  /** Where the history comes from. */
  source: string;
  /** The market data is made up. */
  simulated: boolean;
  /** Days of the demonstration's replay are in it. */
  replayed: boolean;
  /** Of all that is drawn by chance; null where nothing is. */
  seed: number | null;
  result: Result | null;
}
