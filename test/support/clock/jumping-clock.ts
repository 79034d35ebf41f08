import { MINUTE_MS } from '../../../src/forecast/day.ts';
/** The clock of a worker beside the correct time, which runs from where a test sets it. */
export interface JumpingClock {
  /** What the worker's clock shows. */
  now(): Date;
  /** What the clocks of database and chain show. */
  trueNow(): Date;
  /** Sets the correct time, Unix milliseconds. */
  setTrueTime(ms: number): void;
  /** The worker's clock is so far ahead from now on; behind when negative, correct at 0. */
  setAhead(ms: number): void;
}

export function createJumpingClock(): JumpingClock {
  let trueMs = 0;
  let setAtMs = 0;
  let aheadMs = 0;
  const readTrueMs = () => Math.floor(trueMs + performance.now() - setAtMs);
  return {
    now: () => new Date(readTrueMs() + aheadMs),
    trueNow: () => new Date(readTrueMs()),
    setTrueTime(ms) {
      [trueMs, setAtMs] = [ms, performance.now()];
    },
    setAhead(ms) {
      aheadMs = ms;
    },
  };
}

const HOUR_MS = 60 * MINUTE_MS;

/** Jumps over midnight from a few minutes, an hour and any time before or after it. */
export const CLOCK_JUMPS = [
  ['12 min ahead', 12 * MINUTE_MS],
  ['23 h ahead', 23 * HOUR_MS],
  ['2 d ahead', 48 * HOUR_MS],
  ['12 min behind', -12 * MINUTE_MS],
  ['23 h behind', -23 * HOUR_MS],
  ['2 d behind', -48 * HOUR_MS],
] as const satisfies (readonly [string, number])[];
