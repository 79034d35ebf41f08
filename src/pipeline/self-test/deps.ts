import type { ReadGasCosts } from '../../chain/gas-costs.ts';
import type { SelfTestStore } from '../../record/self-test/store.ts';
import type { ComputationName, ComputeInput, TimedReport } from './computations.ts';
import type { SingleFlightQueue } from './single-flight-queue.ts';

/** What self-tests are run with. */
export interface SelfTestDeps {
  store: SelfTestStore;
  /** Computes reports without keeping anybody else waiting. Errors as `computeInThread`. */
  compute(input: ComputeInput, names: readonly ComputationName[]): Promise<TimedReport[]>;
  queue: SingleFlightQueue;
  /** Version of the software, and digest of the code that computes. */
  codeVersion: string;
  /** When this process began: what other code found before that is looked at again. */
  startedAt: Date;
  /** Of the wallets that write the record on chain. */
  gasCosts: ReadGasCosts;
}
