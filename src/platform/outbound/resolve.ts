import { Resolver } from 'node:dns/promises';
import { Semaphore, type SemaphoreLimits } from '../concurrency/semaphore.ts';
import type { ResolveHostname } from './target.ts';

export interface ResolveOptions {
  /** Name servers, each an address with optional port; default: those of the system. */
  servers?: readonly string[];
  timeoutMs?: number;
  limits?: SemaphoreLimits;
}

export const LOOKUP_LIMITS = { maxConcurrent: 8, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

/** Per name, over all name servers. */
const MAX_RESOLVE_MS = 3_000;
const LOOPBACK = ['127.0.0.1', '::1'] as const;

/** Not `getaddrinfo`, which blocks one of the few threads of the process while a name server is silent. @throws OracleError RATE_LIMITED */
export function createResolver({ servers, timeoutMs = 1_500, limits = LOOKUP_LIMITS }: ResolveOptions = {}): ResolveHostname {
  const semaphore = new Semaphore(limits);
  return async (hostname) => {
    if (hostname === 'localhost') return LOOPBACK;
    return semaphore.run(() => {
      // One per lookup, since the system's name servers may change.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      return resolveAddresses(hostname, resolver);
    });
  };
}

/** Addresses that arrived in time: only these are called. */
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
