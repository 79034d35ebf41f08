import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { OracleError } from '../errors.ts';
import type { Log } from './log.ts';
import { withTimeout } from './time.ts';

/** Passed down to all parts: they register closing steps, and long work watches the signal. */
export interface Shutdown {
  /** Aborted when the stop begins. */
  readonly signal: AbortSignal;
  /** Aborted before that: new work is still done, and other processes should be asked for more. */
  readonly draining: AbortSignal;
  /** How long `drain` waits from now on, milliseconds, and what it does then; 0 and nothing unless set. */
  setDrain(ms: number, stopAccepting: () => void): void;
  /** Announces the stop and waits for the drain time, once. */
  drain(): Promise<void>;
  /** Registers a closing step. Steps run in the reverse order of their registration, each once. */
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Runs all closing steps once. Resolves to the names of steps that failed or exceeded the time limit. */
  stop(reason: string): Promise<string[]>;
}

const SETTLE_MS = 500;

export function createShutdown({ log, timeoutMs = 9_000 }: { log: Log; timeoutMs?: number }): Shutdown {
  const controller = new AbortController();
  const draining = new AbortController();
  let [drainMs, stopAccepting] = [0, () => {}];
  const steps: { name: string; close: () => Promise<void> | void }[] = [];
  let stopping: Promise<string[]> | undefined;

  async function run(reason: string): Promise<string[]> {
    log.debug({ reason }, 'closing');
    draining.abort();
    controller.abort(new OracleError('SHUTTING_DOWN', `The service is stopping: ${reason}`));
    const deadline = performance.now() + timeoutMs;
    const failed: string[] = [];
    for (const step of steps.reverse()) {
      try {
        // Past the deadline each step still gets 200 ms: a released lock is worth more than a punctual exit.
        const timeLeftMs = Math.max(deadline - performance.now(), 200);
        await withTimeout(timeLeftMs, Promise.resolve(step.close()), () => new Error(`${step.name} did not close in time`));
      } catch (error) {
        failed.push(step.name);
        log.error({ err: error, step: step.name }, 'could not close in time or in order');
      }
    }
    return failed;
  }

  return {
    signal: controller.signal,
    draining: draining.signal,
    setDrain(ms, stop) {
      [drainMs, stopAccepting] = [ms, stop];
    },
    async drain() {
      if (draining.signal.aborted) return;
      draining.abort();
      if (drainMs === 0) return;
      await delay(drainMs);
      // In the phase after the one in which connections are accepted: one that is not yet would be reset.
      await setImmediate();
      stopAccepting();
      // What was accepted last is still read and answered.
      await delay(SETTLE_MS);
    },
    onStop: (name, close) => void steps.push({ name, close }),
    stop: (reason) => (stopping ??= run(reason)),
  };
}

/** SIGINT and SIGTERM drain and stop the service and exit with 0, or 1 if a step failed; a second signal exits at once with 128 + its number. */
export function stopOnSignals(shutdown: Shutdown, announce: (signal: string) => void): void {
  const numbers = { SIGINT: 2, SIGTERM: 15 } as const;
  let signalled = false;
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    process.on(name, () => {
      if (signalled) process.exit(128 + numbers[name]);
      signalled = true;
      announce(name);
      void shutdown
        .drain()
        .then(() => shutdown.stop(name))
        .then((failed) => process.exit(failed.length > 0 ? 1 : 0));
    });
  }
}
