import { createHash } from 'node:crypto';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import type { RequestContext } from '../../auth/request-context.ts';
import { OracleError } from '../../platform/errors.ts';

/** Protocol binding of a request, which decides the error format. */
export type Binding = 'jsonrpc' | 'rest';

/** Requests without an HTTP connection lack the optional members: they are admitted and metered where they entered. */
export type A2aRequestContext = Pick<RequestContext, 'caller' | 'address'> & Partial<RequestContext>;

/** Tasks are scoped to `userName`: wallet or address. A browser page is a user of its own, and cannot read tasks of others. */
export class AgentUser implements User {
  readonly requestContext: A2aRequestContext;
  readonly binding: Binding;
  readonly disconnectSignal: AbortSignal | undefined;

  constructor(requestContext: A2aRequestContext, binding: Binding, disconnectSignal?: AbortSignal) {
    this.requestContext = requestContext;
    this.binding = binding;
    this.disconnectSignal = disconnectSignal;
  }

  get isAuthenticated(): boolean {
    return this.requestContext.caller.wallet !== undefined;
  }

  get userName(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined || origin === undefined) return this.rateLimitKey;
    return `page:${createHash('sha256').update(origin).digest('hex').slice(0, 32)}@${address}`;
  }

  /** Key of task and stream quotas. All pages at an address share one, because a client can name any origin. */
  get rateLimitKey(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined) return `wallet:${caller.wallet.toLowerCase()}`;
    return `${origin === undefined ? 'address' : 'pages'}:${address}`;
  }
}

/** Runs a unit of work of a call, admitted by what it costs. @throws OracleError OVERLOADED */
export function runUnit<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
  const { run } = getUser(context).requestContext;
  return run === undefined ? work() : run(work);
}

export function getUser({ user }: ServerCallContext): AgentUser {
  if (user instanceof AgentUser) return user;
  throw new OracleError('INTERNAL', 'A call came in without its asker');
}

/** Owner of the tasks that a call can access. The tenant of the request is ignored, so it cannot widen the scope. */
export function getOwner(context: ServerCallContext): string {
  return getUser(context).userName;
}

export function getRateLimitKey(context: ServerCallContext): string {
  return getUser(context).rateLimitKey;
}

/** Wallet tasks live longer than anonymous ones, whose address another client may hold tomorrow. */
export function isWalletOwner(owner: string): boolean {
  return owner.startsWith('wallet:');
}

/** Call context of a request that did not use A2A. */
export function createPlainCallContext(requestContext: A2aRequestContext): ServerCallContext {
  return new ServerCallContext({ user: new AgentUser(requestContext, 'jsonrpc'), requestedVersion: '1.0' });
}
