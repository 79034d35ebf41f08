import type { Address } from 'viem';
import { createGasCostReader } from '../../chain/gas-costs.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { computeInProcess } from '../../pipeline/self-test/compute-in-process.ts';
import type { SelfTestDeps } from '../../pipeline/self-test/deps.ts';
import { SingleFlightQueue } from '../../pipeline/self-test/single-flight-queue.ts';
import { toPublicStepReason } from '../../pipeline/step-run-store.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import { SelfTestStore } from '../../record/self-test/store.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';
import { computeCodeVersion } from './code-version.ts';

interface ComposeSelfTestsDeps extends Pick<ServiceCore, 'db' | 'now'> {
  chainId: number;
  wallets: readonly Address[];
  version: string;
}

/** Dependencies of the self-tests, which run in a child process that ends with this one. */
export function composeSelfTests({ shutdown }: Pick<ProcessContext, 'shutdown'>, deps: ComposeSelfTestsDeps): SelfTestDeps {
  const { db, chainId, wallets, version, now } = deps;
  return {
    store: new SelfTestStore(db),
    compute: (input, names) => computeInProcess({ input, names }, { signal: shutdown.signal }),
    queue: new SingleFlightQueue(),
    codeVersion: computeCodeVersion(version),
    startedAt: now(),
    gasCosts: createGasCostReader(db, { chainId, addresses: wallets }),
  };
}

/** Read access to stored self-tests. `getStartupStep` returns null once the start is complete. */
export function composeSelfTestService(
  deps: Pick<PipelineDeps, 'selfTests' | 'market' | 'runs'> & { getStartupStep(): string | null },
): SelfTestService {
  const { selfTests, market, runs, getStartupStep } = deps;
  const { store, codeVersion, startedAt } = selfTests;
  return {
    store,
    codeVersion,
    getLastCoveredDay: async () => (await market.coverage()).lastDay,
    getRunningSince: () => (getStartupStep() === null ? startedAt : null),
    async explainWaiting(step) {
      const run = (await runs.listLatest()).find((one) => one.step === step);
      if (run !== undefined && run.state !== 'done') return toPublicStepReason(run);
      return getStartupStep();
    },
  };
}
