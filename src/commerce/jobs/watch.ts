import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError, messageOf } from '../../errors.ts';
import type { JobParts } from './parts.ts';
import { sweepJobs } from './provider.ts';

/**
 * Sweeps again and again until the signal, and resolves once the last pass is over. A pass that fails is logged when it fails otherwise
 * than the one before, and so is the first that succeeds again.
 */
export async function watchJobs(parts: JobParts, intervalMs: number, signal: AbortSignal): Promise<void> {
  let failure: string | null = null;
  while (!signal.aborted) {
    const now = await sweepFailure(parts);
    if (now !== null && now.kind !== failure) parts.log.error({ err: now.error }, 'looking for agent commerce jobs failed; it goes on');
    if (now === null && failure !== null) parts.log.info('looking for agent commerce jobs works again');
    failure = now?.kind ?? null;
    // The signal ends the pause, and with it the loop.
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

async function sweepFailure(parts: JobParts): Promise<{ kind: string; error: unknown } | null> {
  try {
    await sweepJobs(parts);
    return null;
  } catch (error) {
    return { kind: isOracleError(error) ? error.code : messageOf(error), error };
  }
}
