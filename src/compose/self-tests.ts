import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { createGasCosts } from '../chain/gas-costs.ts';
import type { Market } from '../market/market.ts';
import type { SelfTestParts } from '../pipeline/self-test/parts.ts';
import { computeInThread } from '../pipeline/self-test/thread.ts';
import { OneAtATime } from '../pipeline/self-test/turns.ts';
import { publicReason, type StepRuns } from '../pipeline/step-runs.ts';
import type { SelfTestDesk } from '../record/self-test/desk.ts';
import { SelfTestStore } from '../record/self-test/store.ts';
import { codeVersionOf } from './code-version.ts';
import type { Frame } from './frame.ts';

export interface SelfTestComposition {
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
  { shutdown }: Pick<Frame, 'shutdown'>,
  { db, chainId, wallets, version, now }: SelfTestComposition,
): SelfTestParts {
  return {
    store: new SelfTestStore(db),
    compute: (input, names) => computeInThread({ input, names }, { signal: shutdown.signal }),
    turns: new OneAtATime(),
    codeVersion: codeVersionOf(version),
    startedAt: now(),
    gasCosts: createGasCosts(db, { chainId, addresses: wallets }),
  };
}

export interface SelfTestDeskComposition {
  selfTests: Pick<SelfTestParts, 'store' | 'codeVersion' | 'startedAt'>;
  market: Pick<Market, 'coverage'>;
  runs: StepRuns;
  /** What is left of the start, or null. */
  setup(): string | null;
}

/** Where stored self-tests are told from. */
export function composeSelfTestDesk({ selfTests, market, runs, setup }: SelfTestDeskComposition): SelfTestDesk {
  const { store, codeVersion, startedAt } = selfTests;
  return {
    store,
    codeVersion,
    lastCovered: async () => (await market.coverage()).lastDay,
    runsSince: () => (setup() === null ? startedAt : null),
    async waitsFor(step) {
      const run = (await runs.latest()).find((one) => one.step === step);
      if (run !== undefined && run.state !== 'done') return publicReason(run);
      return setup();
    },
  };
}
