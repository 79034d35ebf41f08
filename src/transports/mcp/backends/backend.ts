import type { PublicSource } from '../../../../skills/outlines/public-part.ts';
import type { SoldAnswer } from '../../../../skills/paid-call.ts';
import type { SkillAnswer } from '../../../../skills/runner.ts';

/** Payment members of a tool call, unvalidated. */
export interface CallPayment {
  payment: unknown;
  /** Referral code. */
  ref: unknown;
  /** Whether the client takes payment requirements where its tier excludes the skill. */
  wantsQuote: boolean;
}

/** Data source of an MCP server: this process, or a running service over HTTP. */
export interface McpBackend extends PublicSource {
  /** A payment is read only if the tier excludes the skill and it is sold. @throws OracleError, PayableError, PaymentRequiredError */
  run(skillId: string, input: Record<string, unknown>, payment?: CallPayment): Promise<SkillAnswer | SoldAnswer>;
  methodology: string;
}
