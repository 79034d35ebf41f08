import type { PipelineContext, StepContext } from '../../../src/pipeline/forecaster.ts';
import { createReplayTime, type ReachedInstant, type TrustedTime, type UnreachedInstant } from '../../../src/platform/time.ts';

/** Time of a test that goes through days: process, database and chain agree on this instant. */
export function timeAt(ms: number): TrustedTime {
  return createReplayTime(new Date(ms));
}

/** The same of a clock that a test moves. */
export function timeOf(now: () => Date): TrustedTime {
  const current = () => createReplayTime(now());
  return {
    requireReached: (ms, what) => current().requireReached(ms, what),
    proveUnreached: (ms) => current().proveUnreached(ms),
    findDisagreement: async () => null,
    describe: () => current().describe(),
  };
}

/** The circumstances of a step that runs at an instant that every clock agrees on. */
export function contextAt(ms: number): StepContext {
  return { now: new Date(ms), replayed: false, time: timeAt(ms) };
}

/** For a suite that moves the clock of its process: the database's clock cannot follow, and is not asked. */
export function followProcessClock({ pipeline }: { pipeline: Pick<PipelineContext, 'time'> }): void {
  Object.assign(
    pipeline.time,
    timeOf(() => new Date()),
  );
}

const FAR_MS = Date.UTC(2100, 0, 1);
const FIRST_MS = Date.UTC(2000, 0, 1);

/** Proves any instant of a test to be past. */
export const REACHED: ReachedInstant = await timeAt(FAR_MS).requireReached(FAR_MS, 'the end of the test');
/** Proves any instant of a test to lie ahead. */
export const UNREACHED = (await timeAt(FIRST_MS - 1).proveUnreached(FIRST_MS)) as UnreachedInstant;
