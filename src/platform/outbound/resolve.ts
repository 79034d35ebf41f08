import { Resolver } from 'node:dns/promises';
import { Semaphore, type SemaphoreLimits } from '../concurrency/semaphore.ts';
import type { ResolveHostname } from './target.ts';

export interface ResolveOptions {
  /** Name servers, each an address with or without a port. Unset: those of the system. */
  servers?: readonly string[];
  /** For an answer of each of them. */
  timeoutMs?: number;
  /** Names that are looked up at once, and further ones that wait for their turn, other than usual. */
  limits?: SemaphoreLimits;
}

/** Names that are looked up at once, and further ones that wait for their turn. */
export const LOOKUP_LIMITS = { maxConcurrent: 8, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

/** For one name, however many name servers are asked in turn. */
const MAX_RESOLVE_MS = 3_000;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/**
 * Looks names up by questions of our own to the name servers. The system's look-up takes one of the few threads of the process
 * for as long as the server of a name is silent: some slow names, and no other name of the whole process would be found. Names of
 * `/etc/hosts` are not found therefore; `localhost` is this machine whoever is asked. Slow names of one use would keep those of
 * another one waiting: each has one of its own. A look-up that gets no turn fails with OracleError RATE_LIMITED, which says nothing of
 * its name.
 */
export function createResolver({ servers, timeoutMs = 1_500, limits = LOOKUP_LIMITS }: ResolveOptions = {}): ResolveHostname {
  const semaphore = new Semaphore(limits);
  return async (hostname) => {
    if (hostname === 'localhost') return LOOPBACK;
    return semaphore.run(() => {
      // One each, as the name servers of the system may change.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      return resolveAddresses(hostname, resolver);
    });
  };
}

/** Those that were told in time: only they are called. */
async function resolveAddresses(hostname: string, resolver: Resolver): Promise<readonly string[]> {
  const timer = setTimeout(() => resolver.cancel(), MAX_RESOLVE_MS);
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    clearTimeout(timer);
  }
}
