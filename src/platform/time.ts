import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../errors.ts';

/** The clock of the process, and those outside its control. */
export interface TimeSources {
  now(): Date;
  /** @throws OracleError DATABASE_UNAVAILABLE */
  databaseNow(): Promise<Date>;
  /** Time of the newest block. @throws OracleError CHAIN_UNREACHABLE */
  newestBlockAt(): Promise<Date>;
  /** Ends waiting for the next block with SHUTTING_DOWN. */
  signal?: AbortSignal;
  /** Called with the reason when the clocks begin to disagree, and with null when they agree again. */
  onChange?(reason: string | null): void;
}

/** Proves whether an instant is past. Irreversible steps require these proofs. */
export interface TrustedTime {
  /** Proves it by process, database and newest block. @param what names it @throws STEP_WAITING, DATABASE_UNAVAILABLE, CHAIN_UNREACHABLE */
  requireReached(instantMs: number, what: string): Promise<ReachedInstant>;
  /** By process and database; null if one has passed it. @throws OracleError STEP_WAITING when they disagree, DATABASE_UNAVAILABLE */
  proveUnreached(instantMs: number): Promise<UnreachedInstant | null>;
  /** Why irreversible steps must wait; null while the clocks agree, and agreed when a time was taken that work goes by. @throws OracleError DATABASE_UNAVAILABLE */
  findDisagreement(taken?: TakenTime): Promise<string | null>;
  /** Summary of the clocks. @throws OracleError STEP_WAITING when they disagree, DATABASE_UNAVAILABLE */
  describe(): Promise<string>;
}

class ProvenInstant {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

class Reached extends ProvenInstant {
  // A private member makes the type nominal.
  readonly #isReached = true;
  /** @throws OracleError INTERNAL for a later instant, a defect of the caller */
  requireCovers(instantMs: number, what: string): void {
    if (this.#isReached && instantMs <= this.ms) return;
    throw new OracleError('INTERNAL', `${what} was not proven to be reached`);
  }
}

class Unreached extends ProvenInstant {
  readonly #isUnreached = true;
  /** @throws OracleError INTERNAL for an earlier instant, a defect of the caller */
  requireBefore(instantMs: number, what: string): void {
    if (this.#isUnreached && this.ms <= instantMs) return;
    throw new OracleError('INTERNAL', `${what} was not proven to lie ahead`);
  }
}

/** A proven past instant; only `TrustedTime` creates one. */
export type ReachedInstant = Reached;
/** An instant ahead at the time of the proof; only `TrustedTime` creates one. */
export type UnreachedInstant = Unreached;

/** Clocks further apart prove nothing. */
export const MAX_CLOCK_SKEW_MS = 60_000;
/** Longest wait for an instant: Base has a block every 2 s, and clocks differ by fractions of a second. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 250;
const MAX_BLOCK_AGE_MS = 5_000;

export function createTrustedTime(sources: TimeSources): TrustedTime {
  const readClocks = createClockReader(sources.now, sources.databaseNow);
  const readBlock = createBlockReader(sources.newestBlockAt);
  let reported: string | null = null;

  async function compareClocks(): Promise<{ reading: ClockReading; reason: string | null }> {
    const reading = await readClocks();
    const reason = describeDisagreement(reading);
    if ((reason === null) !== (reported === null)) sources.onChange?.(reason);
    reported = reason;
    return { reading, reason };
  }

  async function requireAgreement(): Promise<ClockReading> {
    const { reading, reason } = await compareClocks();
    if (reason !== null) throw new OracleError('STEP_WAITING', reason);
    return reading;
  }

  /** The clock furthest behind an instant; the chain is read only after the others have passed it. */
  async function findLaggingClock(instantMs: number): Promise<LaggingClock> {
    const { processMs, databaseMs } = await requireAgreement();
    if (processMs < instantMs) return { clock: "this process's clock", ms: processMs };
    if (databaseMs.min < instantMs) return { clock: "the database's clock", ms: databaseMs.min };
    return { clock: 'the newest block', ms: await readBlock(instantMs) };
  }

  return {
    async requireReached(instantMs, what) {
      const deadline = performance.now() + MAX_WAIT_MS;
      for (;;) {
        const last = await findLaggingClock(instantMs);
        if (last.ms >= instantMs) return new Reached(instantMs);
        const isNear = instantMs - last.ms <= MAX_WAIT_MS && performance.now() < deadline;
        if (!isNear) throw notReachedError(what, instantMs, last);
        await waitForPoll(sources.signal);
      }
    },
    async proveUnreached(instantMs) {
      const { processMs, databaseMs } = await requireAgreement();
      return Math.max(processMs, databaseMs.max) < instantMs ? new Unreached(instantMs) : null;
    },
    async findDisagreement(taken) {
      const { reason } = await compareClocks();
      if (reason !== null || taken === undefined) return reason;
      return describeDisagreement(await readClocks(taken));
    },
    describe: async () => formatAgreement(await requireAgreement()),
  };
}

/** Time of replayed days. Only for a chain of this process, whose clock is set to them. */
export function createReplayTime(at: Date): TrustedTime {
  const nowMs = at.getTime();
  return {
    async requireReached(instantMs, what) {
      if (instantMs <= nowMs) return new Reached(instantMs);
      throw notReachedError(what, instantMs, { clock: 'the replay', ms: nowMs });
    },
    proveUnreached: async (instantMs) => (nowMs < instantMs ? new Unreached(instantMs) : null),
    findDisagreement: async () => null,
    describe: async () => `replays ${formatIso(nowMs)}`,
  };
}

interface LaggingClock {
  clock: string;
  ms: number;
}

/** A cached block counts only if it is newer than the instant. */
function createBlockReader(newestBlockAt: TimeSources['newestBlockAt']): (instantMs: number) => Promise<number> {
  let cached: { ms: number; readAt: number } | undefined;
  return async (instantMs) => {
    if (cached !== undefined && cached.ms >= instantMs && performance.now() - cached.readAt <= MAX_BLOCK_AGE_MS) return cached.ms;
    cached = { ms: (await newestBlockAt()).getTime(), readAt: performance.now() };
    return cached.ms;
  };
}

async function waitForPoll(signal: AbortSignal | undefined): Promise<void> {
  await delay(POLL_MS, undefined, { signal }).catch((cause: unknown) => {
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping', { cause });
  });
}

function notReachedError(what: string, instantMs: number, { clock, ms }: LaggingClock): OracleError {
  return new OracleError('STEP_WAITING', `${what} is at ${formatIso(instantMs)}, and ${clock} is at ${formatIso(ms)}`);
}

function describeDisagreement(reading: ClockReading): string | null {
  return Math.abs(reading.aheadMs) > MAX_CLOCK_SKEW_MS ? formatDisagreement(reading) : null;
}

function formatDisagreement({ processMs, databaseMs, aheadMs }: ClockReading): string {
  const difference = `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  const times = `${formatIso(processMs)} and ${formatIso(databaseMs.min)}`;
  return `this process's clock is ${difference} the database's (${times}): what cannot be undone waits until they are within ${MAX_CLOCK_SKEW_MS / 1_000} s of each other`;
}

function formatAgreement({ aheadMs }: ClockReading): string {
  const seconds = Math.abs(aheadMs) / 1_000;
  if (seconds < 0.1) return "agrees with the database's";
  return `${seconds.toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`;
}

/** The two largest units: `2 d 3 h`, `4 min 5 s`. */
function formatDuration(ms: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const;
  let rest = Math.round(ms / 1_000);
  const parts = units.map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return { count, unit };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  const shown = parts.slice(Math.max(first, 0), Math.max(first, 0) + 2).filter(({ count }) => count > 0);
  return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ');
}

function formatIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Clocks of this process and of the database at one moment, in Unix milliseconds. */
interface ClockReading {
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
function createClockReader(now: () => Date, databaseNow: () => Promise<Date>): (taken?: TakenTime) => Promise<ClockReading> {
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

export async function withTimeout<T>(ms: number, work: Promise<T>, createError: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(createError()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
