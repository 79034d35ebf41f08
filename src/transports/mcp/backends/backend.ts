import type { SoldAnswer } from '../../../../skills/paid-call.ts';
import type { SkillAnswer } from '../../../../skills/runner.ts';
import type { HorizonName } from '../../../forecast/model.ts';

/** Payment members of a tool call, unvalidated. */
export interface CallPayment {
  payment: unknown;
  /** Referral code. */
  ref: unknown;
}

/** Data source of an MCP server: this process, or a running service over HTTP. */
export interface McpBackend {
  /** A payment is read only if the tier excludes the skill and it is sold. @throws OracleError, PayableError, PaymentRequiredError */
  run(skillId: string, input: Record<string, unknown>, payment?: CallPayment): Promise<SkillAnswer | SoldAnswer>;
  /** The public signal (interface, section 2.1) in the view of the caller. @throws OracleError STEP_WAITING */
  publicSignal(horizon: HorizonName): Promise<Record<string, unknown>>;
  methodology: string;
}
