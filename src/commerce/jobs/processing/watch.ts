import { setTimeout as delay } from 'node:timers/promises';
import { getErrorMessage, isOracleError } from '../../../platform/errors.ts';
import type { JobDeps } from './deps.ts';
import { sweepJobs } from './sweep.ts';

/**
 * Sweeps again and again until the signal, and resolves once the last pass is over. A pass that fails is logged when it fails otherwise
 * than the one before, and so is the first that succeeds again.
 */
export async function watchJobs(deps: JobDeps, intervalMs: number, signal: AbortSignal): Promise<void> {
  let failure: string | null = null;
  while (!signal.aborted) {
    const now = await trySweep(deps);
    if (now !== null && now.kind !== failure) deps.log.error({ err: now.error }, 'looking for agent commerce jobs failed; it goes on');
    if (now === null && failure !== null) deps.log.info('looking for agent commerce jobs works again');
    failure = now?.kind ?? null;
    // The signal ends the pause, and with it the loop.
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
