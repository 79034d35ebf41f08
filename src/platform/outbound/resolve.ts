import { Resolver } from 'node:dns/promises';
import { type TurnLimits, Turns } from '../turns.ts';
import type { Resolve } from './target.ts';

export interface ResolveOptions {
  /** Name servers, each an address with or without a port. Unset: those of the system. */
  servers?: readonly string[];
  /** For an answer of each of them. */
  timeoutMs?: number;
  /** Names that are looked up at once, and further ones that wait for their turn, other than usual. */
  most?: TurnLimits;
}

/** Names that are looked up at once, and further ones that wait for their turn. */
export const MOST_LOOKUPS = { underWay: 8, waiting: 8, waitMs: 1_000 } as const;

/** For one name, however many name servers are asked in turn. */
const LIMIT_MS = 3_000;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/**
 * Looks names up by questions of our own to the name servers. The system's look-up takes one of the few threads of the process
 * for as long as the server of a name is silent: some slow names, and no other name of the whole process would be found. Names of
 * `/etc/hosts` are not found therefore; `localhost` is this machine whoever is asked. Slow names of one use would keep those of
 * another one waiting: each has one of its own. A look-up that gets no turn fails with OracleError RATE_LIMITED, which says nothing of
 * its name.
 */
export function createResolve({ servers, timeoutMs = 1_500, most = MOST_LOOKUPS }: ResolveOptions = {}): Resolve {
  const turns = new Turns(most);
  return async (hostname) => {
    if (hostname === 'localhost') return LOOPBACK;
    return turns.run(() => {
      // One each, as the name servers of the system may change.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      return addressesOf(hostname, resolver);
    });
  };
}

/** Those that were told in time: only they are called. */
async function addressesOf(hostname: string, resolver: Resolver): Promise<readonly string[]> {
  const timer = setTimeout(() => resolver.cancel(), LIMIT_MS);
  try {
    const [older, newer] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (older.status === 'rejected' && newer.status === 'rejected') throw older.reason;
    return [older, newer].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    clearTimeout(timer);
  }
}
