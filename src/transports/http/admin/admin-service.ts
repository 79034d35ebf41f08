import type { WagerSwitch } from '../../../wager/wager-switch.ts';
import type { Status } from '../service/health/status-schemas.ts';
import type { AuditLog } from './audit-log.ts';
import type { ADMIN_STEP_NAMES, ADMIN_STEP_STATES } from './schemas.ts';

export type AdminStepName = (typeof ADMIN_STEP_NAMES)[number];

export interface AdminStepResult {
  step: AdminStepName;
  /** `YYYY-MM-DD`. */
  date: string;
  state: (typeof ADMIN_STEP_STATES)[number];
  /** Result, reason to wait, or error message. */
  detail: string;
}

export interface AdminService {
  audit: AuditLog;
  wagerSwitch: WagerSwitch;
  /** Whether the settings disable new wagers, regardless of the switch. */
  wagersOff: boolean;
  steps(): Promise<Status['steps']>;
  /** @throws OracleError INPUT_INVALID naming `day`, CONFLICT before the scheduled time of the step, STEP_WAITING during startup */
  runStep(step: AdminStepName, date: string | undefined): Promise<AdminStepResult>;
}
