import { computeInProcess } from '../../src/pipeline/self-test-process.ts';
import { loadSimulatedHistory } from '../../src/tools/model-document.ts';

/** Self-tests on a whole history in the child process that the service runs them in, one after the other without a pause. */
interface SelfTestLoop {
  /** Resolves once they run. */
  start(): Promise<void>;
  /** Ends them; how many were completed since they were started. */
  stop(): Promise<number>;
}

export function selfTestLoop(): SelfTestLoop {
  const history = loadSimulatedHistory();
  let running: { controller: AbortController; ended: Promise<number> } | null = null;
  return {
    async start() {
      const input = { frame: (await history).frame, pointInTime: [], vintages: 'made' as const };
      const controller = new AbortController();
      const first = Promise.withResolvers<void>();
      running = { controller, ended: repeat(input, controller.signal, first.resolve) };
      await first.promise;
    },
    async stop() {
      const { controller, ended } = running ?? {};
      running = null;
      controller?.abort();
      return (await ended) ?? 0;
    },
  };
}

type Input = Parameters<typeof computeInProcess>[0]['input'];

/** The tests of each day, until it is aborted. */
async function repeat(input: Input, signal: AbortSignal, onFirst: () => void): Promise<number> {
  for (let completed = 0; ; completed++) {
    try {
      await computeInProcess({ input, names: ['walk-forward', 'overfitting'] }, { signal, onReport: onFirst });
    } catch (error) {
      if (signal.aborted) return completed;
      throw error;
    }
  }
}
