import { createHash } from 'node:crypto';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import type { RequestContext } from '../../auth/request-context.ts';
import { OracleError } from '../../platform/errors.ts';

/** How a request came in; errors are told in its words. */
export type Binding = 'jsonrpc' | 'rest';

/** Who is counted and asked for by a request: all that the core needs of it. */
export type A2aRequestContext = Pick<RequestContext, 'caller' | 'address'> &
  Partial<Pick<RequestContext, 'origin' | 'requestId' | 'countChainCall' | 'countTask' | 'requirePaymentRoom' | 'countRejectedPayment'>>;

/**
 * The asker in the SDK's terms. Tasks belong to `userName`: a wallet, or for whoever has no token an address. A page that a browser
 * there shows is somebody else than the programs of the same machine, and than other pages.
 */
export class AgentUser implements User {
  readonly requestContext: A2aRequestContext;
  readonly binding: Binding;
  /** Aborted when nobody waits for the answer any more. */
  readonly disconnectSignal: AbortSignal | undefined;

  constructor(requestContext: A2aRequestContext, binding: Binding, gone?: AbortSignal) {
    this.requestContext = requestContext;
    this.binding = binding;
    this.disconnectSignal = gone;
  }

  get isAuthenticated(): boolean {
    return this.requestContext.caller.wallet !== undefined;
  }

  get userName(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined || origin === undefined) return this.rateLimitKey;
    return `page:${createHash('sha256').update(origin).digest('hex').slice(0, 32)}@${address}`;
  }

  /** Whose tasks and streams are counted together: all pages at an address are one, as anybody can name any. */
  get rateLimitKey(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined) return `wallet:${caller.wallet.toLowerCase()}`;
    return `${origin === undefined ? 'address' : 'pages'}:${address}`;
  }
}

export function getUser({ user }: ServerCallContext): AgentUser {
  if (user instanceof AgentUser) return user;
  throw new OracleError('INTERNAL', 'A call came in without its asker');
}

/** Whose tasks a call may see. The tenant of a request plays no part: it cannot widen the scope. */
export function getOwner(context: ServerCallContext): string {
  return getUser(context).userName;
}

/** Whose limits a call is counted against. */
export function getRateLimitKey(context: ServerCallContext): string {
  return getUser(context).rateLimitKey;
}

/** Tasks of a wallet are kept longer than those of an address, which may be somebody else's tomorrow. */
export function isWalletOwner(owner: string): boolean {
  return owner.startsWith('wallet:');
}

/** A call that came in by no protocol of its own. */
export function createPlainCallContext(requestContext: A2aRequestContext): ServerCallContext {
  return new ServerCallContext({ user: new AgentUser(requestContext, 'jsonrpc'), requestedVersion: '1.0' });
}
