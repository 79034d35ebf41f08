import { setTimeout as delay } from 'node:timers/promises';
import { getErrorMessage, isOracleError } from '../../../platform/errors.ts';
import type { JobDeps } from './deps.ts';
import { sweepJobs } from './sweep.ts';

/** Sweeps until the signal aborts. Logs a failure when its kind changes, and the first success after one. */
export async function watchJobs(deps: JobDeps, intervalMs: number, signal: AbortSignal): Promise<void> {
  let failure: string | null = null;
  while (!signal.aborted) {
    const failed = await trySweep(deps);
    if (failed !== null && failed.kind !== failure)
      deps.log.error({ err: failed.error }, 'looking for agent commerce jobs failed; it goes on');
    if (failed === null && failure !== null) deps.log.info('looking for agent commerce jobs works again');
    failure = failed?.kind ?? null;
    // An abort ends the pause, and with it the loop.
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

async function trySweep(deps: JobDeps): Promise<{ kind: string; error: unknown } | null> {
  try {
    await sweepJobs(deps);
    return null;
  } catch (error) {
    return { kind: isOracleError(error) ? error.code : getErrorMessage(error), error };
  }
}
