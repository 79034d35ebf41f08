import type { WagerSwitch } from '../../wager/wager-switch.ts';
import type { STEP_NAMES, STEP_STATES } from '../schemas/admin.ts';
import type { Status } from '../schemas/status.ts';
import type { AuditLog } from './audit-log.ts';

export type StepName = (typeof STEP_NAMES)[number];

/** What came of a step that was run by hand. */
export interface StepResult {
  step: StepName;
  /** `YYYY-MM-DD`. */
  date: string;
  state: (typeof STEP_STATES)[number];
  /** What it did, what it waits for, or why it failed. */
  detail: string;
}

/** What the operator's paths work with, beside what all others do. */
export interface Administration {
  audit: AuditLog;
  wagerSwitch: WagerSwitch;
  /** Whether the settings hold back new wagers, whatever the switch says. */
  wagersOff: boolean;
  /** The newest run of every step. */
  steps(): Promise<Status['steps']>;
  /**
   * @param date `YYYY-MM-DD`; today unless told
   * @throws OracleError INPUT_INVALID naming `day`, CONFLICT before the step's time, STEP_WAITING while the service is being set up
   */
  runStep(step: StepName, date: string | undefined): Promise<StepResult>;
}
