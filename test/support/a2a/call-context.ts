import { ServerCallContext } from '@a2a-js/sdk/server';
import { AgentUser } from '../../../src/a2a/plan.ts';
import type { RequestContext } from '../../../src/auth/auth.ts';

type Called = Pick<RequestContext, 'caller' | 'address'> & Partial<RequestContext>;

/** A call without an HTTP connection, which is never limited. */
export function callContext(called: Called, requestedVersion = '1.0', tenant?: string): ServerCallContext {
  const count = async () => undefined;
  const counters = { countCall: count, countChainCall: count, countTask: count, countRejectedPayment: count, reserveAnswer: count };
  const payments = { requirePaymentRoom: () => undefined, hasPaymentRoom: () => true, beginPayment: () => undefined };
  const work: Pick<RequestContext, 'run' | 'suspend' | 'detach'> = {
    run: async (unit) => unit(),
    suspend: (waiting) => waiting(),
    detach: () => undefined,
  };
  const user = new AgentUser({ requestId: 'none', ...counters, ...payments, ...work, ...called }, 'jsonrpc');
  return new ServerCallContext({ user, requestedVersion, ...(tenant === undefined ? {} : { tenant }) });
}
