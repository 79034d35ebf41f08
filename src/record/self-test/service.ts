import type { Day } from '../../forecast/day.ts';
import type { SelfTestStep } from './due-times.ts';
import type { SelfTestStore } from './store.ts';

/** Where stored self-tests are told from. */
export interface SelfTestService {
  store: SelfTestStore;
  /** Of this process: what a next run would say. */
  codeVersion: string;
  /** Last day of a feed that ends; null for one that goes on. */
  getLastCoveredDay(): Promise<Day | null>;
  /** Since when this process could have run them; null while the start is not done. What was never run is not overdue before. */
  getRunningSince(): Date | null;
  /** Why a step of self-tests has come to nothing yet, in words; null where nothing is known to hold it up. */
  explainWaiting(step: SelfTestStep): Promise<string | null>;
}
