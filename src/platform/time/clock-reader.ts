/** Clocks of this process and of the database at one moment, in Unix milliseconds. */
export interface ClockReading {
  processMs: number;
  /** Bounds of the database's clock, by the round trip. */
  databaseMs: { min: number; max: number };
  /** How far the process's clock is ahead, negative when behind; 0 if the round trip explains the difference. */
  aheadMs: number;
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
export function createClockReader(now: () => Date, databaseNow: () => Promise<Date>): () => Promise<ClockReading> {
  let answer: DatabaseTimeReading | undefined;
  return async () => {
    if (answer === undefined || performance.now() - answer.requestedAtMs > MAX_AGE_MS) answer = await readDatabaseTime(databaseNow);
    return toClockReading(answer, now().getTime());
  };
}

async function readDatabaseTime(databaseNow: () => Promise<Date>): Promise<DatabaseTimeReading> {
  const requestedAtMs = performance.now();
  const databaseMs = (await databaseNow()).getTime();
  return { databaseMs, requestedAtMs, answeredAtMs: performance.now() };
}

function toClockReading({ databaseMs, requestedAtMs, answeredAtMs }: DatabaseTimeReading, processMs: number): ClockReading {
  const elapsedMs = performance.now();
  const min = databaseMs + elapsedMs - answeredAtMs;
  const max = databaseMs + elapsedMs - requestedAtMs;
  const aheadMs = processMs > max ? processMs - max : Math.min(0, processMs - min);
  return { processMs, databaseMs: { min, max }, aheadMs };
}
