/** Clocks of this process and of the database at one moment, in Unix milliseconds. */
export interface ClockReading {
  processMs: number;
  /** Bounds of the database's clock, by the round trip. */
  databaseMs: { min: number; max: number };
  /** How far the process's clock is ahead, negative when behind; 0 if the round trip explains the difference. */
  aheadMs: number;
}

/** Time that the process's clock showed, with the monotonic milliseconds of that moment. */
export interface TakenTime {
  processMs: number;
  takenAtMs: number;
}

export function takeTime(now: Date): TakenTime {
  return { processMs: now.getTime(), takenAtMs: performance.now() };
}

/** Maximum age of a reading: meanwhile the monotonic clock of the process is added. */
const MAX_AGE_MS = 5_000;

interface DatabaseTimeReading {
  databaseMs: number;
  /** Monotonic milliseconds before the request and after the response. */
  requestedAtMs: number;
  answeredAtMs: number;
}

/** A jump of the process's clock is detected at once, also between two readings. Throws what `databaseNow` throws. */
export function createClockReader(now: () => Date, databaseNow: () => Promise<Date>): (taken?: TakenTime) => Promise<ClockReading> {
  let answer: DatabaseTimeReading | undefined;
  return async (taken) => {
    if (answer === undefined || performance.now() - answer.requestedAtMs > MAX_AGE_MS) answer = await readDatabaseTime(databaseNow);
    return toClockReading(answer, taken ?? takeTime(now()));
  };
}

async function readDatabaseTime(databaseNow: () => Promise<Date>): Promise<DatabaseTimeReading> {
  const requestedAtMs = performance.now();
  const databaseMs = (await databaseNow()).getTime();
  return { databaseMs, requestedAtMs, answeredAtMs: performance.now() };
}

function toClockReading(
  { databaseMs, requestedAtMs, answeredAtMs }: DatabaseTimeReading,
  { processMs, takenAtMs }: TakenTime,
): ClockReading {
  const min = databaseMs + takenAtMs - answeredAtMs;
  const max = databaseMs + takenAtMs - requestedAtMs;
  const aheadMs = processMs > max ? processMs - max : Math.min(0, processMs - min);
  return { processMs, databaseMs: { min, max }, aheadMs };
}
