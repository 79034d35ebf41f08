import type { Day } from '../../forecast/day.ts';
import type { SelfTestStep } from './due-times.ts';
import type { SelfTestStore } from './store.ts';

export interface SelfTestService {
  store: SelfTestStore;
  codeVersion: string;
  /** Last day of a feed that ends; null for a live feed. */
  getLastCoveredDay(): Promise<Day | null>;
  /** Start of this process; null during startup. A test that never ran is not overdue before it. */
  getRunningSince(): Date | null;
  /** Why a step has no result yet; null when unknown. */
  explainWaiting(step: SelfTestStep): Promise<string | null>;
}
