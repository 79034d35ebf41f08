import type { Day } from '../../forecast/day.ts';

/** What the service tests about itself. */
export const SELF_TESTS = ['walk-forward', 'contamination', 'stability', 'polymarket-comparison', 'self-report'] as const;

export type SelfTestName = (typeof SELF_TESTS)[number];

/** Which shape results have. A result of another shape is kept and not told: it goes up by one whenever the schema of a report changes. */
export const RESULT_FORMAT = 1;

/** Why a run came to no result. */
export interface SelfTestFailure {
  at: Date;
  reason: string;
  /** Code that failed. */
  codeVersion: string;
}

/** One run of a self-test as it is kept. `_id` is `<test>:<YYYY-MM-DD>` of the day it was due. */
export interface SelfTestDoc<Result = object> {
  _id: string;
  test: SelfTestName;
  /** The day that it was due on. */
  day: Day;
  dueAt: Date;
  ranAt: Date;
  /** When the first result of that day was made; earlier than `ranAt` where other code or other data has made it anew. */
  firstRanAt: Date;
  durationMs: number;
  /** The first result of that day was made later than it was due. */
  late: boolean;
  /** `failed`: it could not be run, for the reason given; what it found is in the result, whatever that is. */
  state: 'done' | 'failed';
  reason: string | null;
  /** Of a result that stands because a run after it, by other code or on other data, has failed; null where none has. */
  failure: SelfTestFailure | null;
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
  /** `RESULT_FORMAT` of the code that made it. */
  format: number;
  result: Result | null;
}
