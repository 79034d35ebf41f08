import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { isForSale, PAYING_CALLER, type PaidCalls } from '../../../../skills/paid-call.ts';
import { findSkill, prepareCall, type RunSkill } from '../../../../skills/runner.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { type ExpectedRangeDeps, getExpectedRange } from '../../../record/distributions/expected-range.ts';
import { getPublicSignal, type PublicSignalDeps } from '../../../record/oracle/public-signal.ts';
import { getToolListing } from '../tools/tool-listing.ts';
import type { CallPayment, McpBackend } from './backend.ts';
import { isTierError, PayableError } from './payable-error.ts';

export interface LocalBackendDeps {
  signals: PublicSignalDeps & ExpectedRangeDeps;
  runSkill: RunSkill;
  /** Unset: calls cannot be paid for. */
  paidCalls?: PaidCalls;
  methodology: string;
}

const NO_PAYMENT: CallPayment = { payment: undefined, ref: undefined, wantsQuote: false };

export function createLocalBackend({ signals, runSkill, paidCalls, methodology }: LocalBackendDeps, context: RequestContext): McpBackend {
  return {
    async run(skillId, input, { payment, ref, wantsQuote } = NO_PAYMENT) {
      const skill = findSkill(skillId);
      const seller = isForSale(skill, context.caller) ? paidCalls : undefined;
      if (seller !== undefined && payment !== undefined && payment !== null) {
        const call = prepareCall(skillId, input, PAYING_CALLER);
        const bazaar = getToolListing(skill);
        return seller.sell({ call, endpoint: ENDPOINTS.mcp, bazaar, payment, ref, context, owner: context.address });
      }
      try {
        return await runSkill(prepareCall(skillId, input, context.caller), context);
      } catch (error) {
        if (seller === undefined || !wantsQuote || !isTierError(error)) throw error;
        throw new PayableError(error, await seller.signedQuote(skill, ENDPOINTS.mcp, getToolListing(skill)));
      }
    },
    publicSignal: (horizon) => getPublicSignal(signals, Number.parseInt(horizon, 10), context.caller),
    expectedRange: (horizon) => getExpectedRange(signals, Number.parseInt(horizon, 10)),
    methodology,
  };
}
