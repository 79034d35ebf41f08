import type { ContractStates } from '../../../../chain/contract-states.ts';
import type { RateSettings } from './limits.ts';

/** One line of the timetable. */
export interface ScheduledStep {
  step: string;
  days: 'every day' | 'Monday' | 'Sunday';
  /** UTC, `HH:MM`. */
  times: string[];
  what: string;
}

/** What the service tells about itself beside its record and market. */
export interface AboutDeps {
  /** True on a throw-away chain of this machine. */
  local: boolean;
  /** Blocks after which a transaction counts. */
  confirmations: number;
  rates: RateSettings;
  schedule: readonly ScheduledStep[];
  /** The contracts as they answered at `checkedAt`, remembered for up to a minute. */
  contracts(): Promise<ContractStates & { checkedAt: Date }>;
}
