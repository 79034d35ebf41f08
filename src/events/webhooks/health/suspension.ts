import type { Tier } from '../../../auth/caller.ts';
import { orElse } from '../../../platform/errors.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import type { WebhookHealthStore } from './webhook-health.ts';

export const TIER_RECHECK_MS = 5 * 60_000;

export interface SuspensionDeps {
  health: WebhookHealthStore;
  queue: DeliveryQueue;
  /** Current tier of a wallet, in lower case. @throws OracleError CHAIN_UNREACHABLE */
  tierOf(wallet: string): Promise<Tier>;
  now(): Date;
}

/** False if it stays suspended. The head of the queue carries the time of the next check: one balance read per interval, none per event. */
export async function resumeWithTier({ health, queue, tierOf, now }: SuspensionDeps, webhookId: string): Promise<boolean> {
  const head = await queue.findHead(webhookId);
  if (head === null || (head.nextAttemptAt !== null && head.nextAttemptAt > now())) return false;
  if (await hasTier(tierOf, head.wallet)) return health.resume(webhookId);
  await queue.postpone(head, new Date(now().getTime() + TIER_RECHECK_MS));
  return false;
}

/** Also false while the chain is unreachable. */
async function hasTier(tierOf: SuspensionDeps['tierOf'], wallet: string): Promise<boolean> {
  const tier = await tierOf(wallet).catch(orElse('CHAIN_UNREACHABLE', 'public' as const));
  return tier !== 'public';
}
