import { setTimeout as delay } from 'node:timers/promises';
import { createLiveContext } from '../../pipeline/deps.ts';
import { catchUpSelfTests, prepareSelfTests } from '../../pipeline/self-test/catch-up.ts';
import type { Service } from '../service.ts';

/** Who has waited for a replay waits so long for what is still being computed. */
const MAX_WAIT_MS = 5_000;

/**
 * Begins to compute, in a thread, the self-tests that are overdue and need no record. What it returns runs the rest, once the record is
 * complete: after a replay results are there when it resolves, unless the machine is too busy; otherwise they follow. Resolves to whether
 * they are there.
 */
export function startSelfTests(service: Service): (hasReplayed: boolean) => Promise<boolean> {
  const { config, pipeline, log, shutdown } = service;
  if (config.ROLE === 'api') return async () => false;
  const computed = prepareSelfTests(pipeline, new Date());
  return async (hasReplayed) => {
    const running = computed
      .then(() => catchUpSelfTests(pipeline, createLiveContext(pipeline, new Date())))
      .catch((error: unknown) => log.error({ err: error }, 'catching up with self-tests failed'));
    shutdown.onStop('self-tests', () => running.then(() => undefined));
    return hasReplayed && Promise.race([running.then(() => true), delay(MAX_WAIT_MS, false, { ref: false })]);
  };
}
