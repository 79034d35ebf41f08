import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { isForSale, PAYING, type PaidCalls } from '../../skills/paid-call.ts';
import { type CarryOut, findSkill, prepareCall } from '../../skills/runner.ts';
import type { Asker } from '../access/asker.ts';
import { isOracleError, type OracleError } from '../errors.ts';
import { type PublicSignalParts, publicSignal } from '../record/public-signal.ts';
import type { McpBackend } from './backend.ts';
import { PayableError } from './payable-error.ts';

export interface LocalBackendParts {
  signals: PublicSignalParts;
  carryOut: CarryOut;
  /** Unset: nothing is sold. */
  paidCalls?: PaidCalls;
  methodology: string;
}

/** What the service that this process is tells one asker. */
export function localBackend({ signals, carryOut, paidCalls, methodology }: LocalBackendParts, asker: Asker): McpBackend {
  return {
    async run(skillId, input, sent) {
      const skill = findSkill(skillId);
      const seller = isForSale(skill, asker.caller) ? paidCalls : undefined;
      const { payment, ref } = sent ?? {};
      if (seller !== undefined && payment !== undefined && payment !== null) {
        const call = prepareCall(skillId, input, PAYING);
        return seller.sell({ call, endpoint: ENDPOINTS.mcp, payment, ref, asker, owner: asker.address });
      }
      try {
        return await carryOut(prepareCall(skillId, input, asker.caller), asker);
      } catch (error) {
        if (seller === undefined || !isOfTier(error)) throw error;
        throw new PayableError(error, seller.terms(skill, ENDPOINTS.mcp));
      }
    },
    publicSignal: (horizon) => publicSignal(signals, Number.parseInt(horizon, 10), asker.caller),
    methodology,
  };
}

function isOfTier(error: unknown): error is OracleError {
  return isOracleError(error, 'UNAUTHENTICATED') || isOracleError(error, 'TIER_REQUIRED');
}
