import type { WagerSwitch } from '../../../wager/wager-switch.ts';
import type { Status } from '../service/health/status-schemas.ts';
import type { AuditLog } from './audit-log.ts';
import type { ADMIN_STEP_NAMES, ADMIN_STEP_STATES } from './schemas.ts';

export type AdminStepName = (typeof ADMIN_STEP_NAMES)[number];

/** What came of a step that was run by hand. */
export interface AdminStepResult {
  step: AdminStepName;
  /** `YYYY-MM-DD`. */
  date: string;
  state: (typeof ADMIN_STEP_STATES)[number];
  /** What it did, what it waits for, or why it failed. */
  detail: string;
}

/** What the operator's paths work with, beside what all others do. */
export interface AdminService {
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
  runStep(step: AdminStepName, date: string | undefined): Promise<AdminStepResult>;
}
