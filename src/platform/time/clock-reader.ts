/** What the clocks of this process and of the database say at one moment, in milliseconds since 1970. */
export interface ClockReading {
  processMs: number;
  /** The database answers within a round trip: its clock reads at least, and at most, this. */
  databaseMs: { min: number; max: number };
  /** How far the process's clock is ahead of the database's, negative when behind; 0 when the round trip can explain the difference. */
  aheadMs: number;
}

/** Answers may be reused for this long: between two of them the monotonic clock of the process counts on. */
const MAX_AGE_MS = 5_000;

interface DatabaseTimeReading {
  databaseMs: number;
  /** Monotonic milliseconds before and after the answer. */
  requestedAtMs: number;
  answeredAtMs: number;
}

/**
 * Compares the process's clock with the database's. A jump of the process's clock shows at once, also between two answers.
 * @returns a function that throws what `databaseNow` throws
 */
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
