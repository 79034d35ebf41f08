import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { createGasCostReader } from '../../chain/gas-costs.ts';
import type { Market } from '../../market/market.ts';
import { computeInThread } from '../../pipeline/self-test/compute-in-thread.ts';
import type { SelfTestDeps } from '../../pipeline/self-test/deps.ts';
import { SingleFlightQueue } from '../../pipeline/self-test/single-flight-queue.ts';
import { type StepRunStore, toPublicStepReason } from '../../pipeline/step-run-store.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import { SelfTestStore } from '../../record/self-test/store.ts';
import type { ProcessContext } from '../process-context.ts';
import { computeCodeVersion } from './code-version.ts';

export interface ComposeSelfTestsDeps {
  db: Db;
  chainId: number;
  /** Wallets that write the record on chain. */
  wallets: readonly Address[];
  /** Of the software. */
  version: string;
  now(): Date;
}

/** What self-tests are run with: computed in a thread, which ends with the process. */
export function composeSelfTests(
  { shutdown }: Pick<ProcessContext, 'shutdown'>,
  { db, chainId, wallets, version, now }: ComposeSelfTestsDeps,
): SelfTestDeps {
  return {
    store: new SelfTestStore(db),
    compute: (input, names) => computeInThread({ input, names }, { signal: shutdown.signal }),
    queue: new SingleFlightQueue(),
    codeVersion: computeCodeVersion(version),
    startedAt: now(),
    gasCosts: createGasCostReader(db, { chainId, addresses: wallets }),
  };
}

export interface ComposeSelfTestServiceDeps {
  selfTests: Pick<SelfTestDeps, 'store' | 'codeVersion' | 'startedAt'>;
  market: Pick<Market, 'coverage'>;
  runs: StepRunStore;
  /** What is left of the start, or null. */
  getStartupStep(): string | null;
}

/** Where stored self-tests are told from. */
export function composeSelfTestService({ selfTests, market, runs, getStartupStep }: ComposeSelfTestServiceDeps): SelfTestService {
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
