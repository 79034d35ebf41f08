import type { ReadGasCosts } from '../../chain/gas-costs.ts';
import type { SelfTestStore } from '../../record/self-test/store.ts';
import type { ComputationName, ComputeInput, TimedReport } from './computations.ts';
import type { SingleFlightQueue } from './single-flight-queue.ts';

export interface SelfTestDeps {
  store: SelfTestStore;
  /** Computes reports off the main thread. Errors as `computeInProcess`. */
  compute(input: ComputeInput, names: readonly ComputationName[]): Promise<TimedReport[]>;
  queue: SingleFlightQueue;
  codeVersion: string;
  /** Start of this process: results of other code from before it are recomputed. */
  startedAt: Date;
  /** Of the wallets that write the record on chain. */
  gasCosts: ReadGasCosts;
}
