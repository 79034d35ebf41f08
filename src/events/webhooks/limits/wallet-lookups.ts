import { Semaphore, type SemaphoreLimits } from '../../../platform/concurrency/semaphore.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';

/** Concurrent and queued name lookups per wallet: in all as many as it can have webhooks. */
const WALLET_LOOKUP_LIMITS = { maxConcurrent: 2, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

/** Rules per wallet with bounded name lookups: slow names of one wallet do not delay others. */
export function createWalletLookups(rules: TargetRules): (wallet: string) => TargetRules {
  const wallets = new Map<string, Semaphore>();
  return (wallet) => ({
    ...rules,
    async resolve(hostname) {
      const semaphore = wallets.get(wallet) ?? new Semaphore(WALLET_LOOKUP_LIMITS);
      wallets.set(wallet, semaphore);
      try {
        return await semaphore.run(() => rules.resolve(hostname));
      } finally {
        if (semaphore.isIdle) wallets.delete(wallet);
      }
    },
  });
}
