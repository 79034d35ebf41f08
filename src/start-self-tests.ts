import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './compose/service.ts';
import { liveContext } from './pipeline/parts.ts';
import { catchUpSelfTests, prepareSelfTests } from './pipeline/self-test/catch-up.ts';

/** Who has waited for a replay waits so long for what is still being computed. */
const PATIENCE_MS = 5_000;

/**
 * Begins to compute, in a thread, the self-tests that are overdue and need no record. What it returns runs the rest, once the record is
 * complete: after a replay results are there when it resolves, unless the machine is too busy; otherwise they follow. Resolves to whether
 * they are there.
 */
export function beginSelfTests(service: Service): (hasReplayed: boolean) => Promise<boolean> {
  const { config, pipeline, log, shutdown } = service;
  if (config.ROLE === 'api') return async () => false;
  const computed = prepareSelfTests(pipeline, new Date());
  return async (hasReplayed) => {
    const running = computed
      .then(() => catchUpSelfTests(pipeline, liveContext(pipeline, new Date())))
      .catch((error: unknown) => log.error({ err: error }, 'catching up with self-tests failed'));
    shutdown.onStop('self-tests', () => running.then(() => undefined));
    return hasReplayed && Promise.race([running.then(() => true), delay(PATIENCE_MS, false, { ref: false })]);
  };
}
