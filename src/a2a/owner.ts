import { createHash } from 'node:crypto';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import type { Asker } from '../access/asker.ts';
import { OracleError } from '../errors.ts';

/** How a request came in; errors are told in its words. */
export type Binding = 'jsonrpc' | 'rest';

/** Who is counted and asked for by a request: all that the core needs of it. */
export type AskerOfCall = Pick<Asker, 'caller' | 'address'> &
  Partial<Pick<Asker, 'origin' | 'requestId' | 'countChainCall' | 'countTask' | 'requirePaymentRoom' | 'countRejectedPayment'>>;

/**
 * The asker in the SDK's terms. Tasks belong to `userName`: a wallet, or for whoever has no token an address. A page that a browser
 * there shows is somebody else than the programs of the same machine, and than other pages.
 */
export class AgentUser implements User {
  readonly asker: AskerOfCall;
  readonly binding: Binding;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal | undefined;

  constructor(asker: AskerOfCall, binding: Binding, gone?: AbortSignal) {
    this.asker = asker;
    this.binding = binding;
    this.gone = gone;
  }

  get isAuthenticated(): boolean {
    return this.asker.caller.wallet !== undefined;
  }

  get userName(): string {
    const { caller, address, origin } = this.asker;
    if (caller.wallet !== undefined || origin === undefined) return this.countedAs;
    return `page:${createHash('sha256').update(origin).digest('hex').slice(0, 32)}@${address}`;
  }

  /** Whose tasks and streams are counted together: all pages at an address are one, as anybody can name any. */
  get countedAs(): string {
    const { caller, address, origin } = this.asker;
    if (caller.wallet !== undefined) return `wallet:${caller.wallet.toLowerCase()}`;
    return `${origin === undefined ? 'address' : 'pages'}:${address}`;
  }
}

export function userOf({ user }: ServerCallContext): AgentUser {
  if (user instanceof AgentUser) return user;
  throw new OracleError('INTERNAL', 'A call came in without its asker');
}

/** Whose tasks a call may see. The tenant of a request plays no part: it cannot widen the scope. */
export function ownerOf(context: ServerCallContext): string {
  return userOf(context).userName;
}

/** Whose limits a call is counted against. */
export function countedAs(context: ServerCallContext): string {
  return userOf(context).countedAs;
}

/** Tasks of a wallet are kept longer than those of an address, which may be somebody else's tomorrow. */
export function isWallet(owner: string): boolean {
  return owner.startsWith('wallet:');
}

/** A call that came in by no protocol of its own. */
export function contextFor(asker: AskerOfCall): ServerCallContext {
  return new ServerCallContext({ user: new AgentUser(asker, 'jsonrpc'), requestedVersion: '1.0' });
}
