import type { SoldAnswer } from '../../../../skills/paid-call.ts';
import type { SkillAnswer } from '../../../../skills/runner.ts';
import type { HorizonName } from '../../../forecast/model.ts';

/** What a client sends along to pay for a call; each undefined where it sent none, and otherwise whatever it sent. */
export interface CallPayment {
  payment: unknown;
  /** Code of the partner who sent the payer. */
  ref: unknown;
}

/** What an MCP server tells, from wherever it has it: the service it runs in, or one that it asks over HTTP. */
export interface McpBackend {
  /**
   * Carries out a skill for the caller that this backend was made for. A payment is looked at only where the tier does not include
   * the answer and single ones are sold.
   * @throws OracleError as behind every door; PayableError or PaymentRequiredError for a call that can be paid for
   */
  run(skillId: string, input: Record<string, unknown>, sent?: CallPayment): Promise<SkillAnswer | SoldAnswer>;
  /** The public signal of a horizon (interface, section 2.1), as this caller may see it. @throws OracleError STEP_WAITING */
  publicSignal(horizon: HorizonName): Promise<Record<string, unknown>>;
  /** How forecasts are made, committed, resolved and scored, as Markdown. */
  methodology: string;
}
