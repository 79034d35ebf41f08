import type { ContractStates } from '../../../../chain/contract-states.ts';
import type { RateSettings } from './limits.ts';

export interface ScheduledStep {
  step: string;
  days: 'every day' | 'Monday' | 'Sunday';
  /** UTC, `HH:MM`. */
  times: string[];
  what: string;
}

export interface AboutDeps {
  /** Whether the chain is a local throw-away. */
  local: boolean;
  /** Confirmation depth, blocks. */
  confirmations: number;
  rates: RateSettings;
  schedule: readonly ScheduledStep[];
  /** Contract states, cached for up to a minute. */
  contracts(): Promise<ContractStates & { checkedAt: Date }>;
}
