import { setTimeout as delay } from 'node:timers/promises';
import { createLiveContext } from '../../pipeline/deps.ts';
import { catchUpSelfTests, prepareSelfTests } from '../../pipeline/self-test/catch-up.ts';
import type { Service } from '../service.ts';

const MAX_WAIT_MS = 5_000;

/** Starts the overdue self-tests that need no record. The returned function runs the others and resolves to whether all are done in time. */
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
