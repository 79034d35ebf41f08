import type { Day } from '../../forecast/day.ts';
import type { SelfTestStep } from './due-times.ts';
import type { SelfTestStore } from './store.ts';

export interface SelfTestService {
  store: SelfTestStore;
  codeVersion: string;
  getLastCoveredDay(): Promise<Day | null>;
  /** Start of this process; null during startup. A test that never ran is not overdue before it. */
  getRunningSince(): Date | null;
  explainWaiting(step: SelfTestStep): Promise<string | null>;
}
