import type { Tier } from '../../../auth/caller.ts';
import { isOracleError } from '../../../platform/errors.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import type { WebhookHealthStore } from './webhook-health.ts';

/** How often the tier of a suspended webhook's wallet is read again, where something waits for the webhook. */
export const TIER_RECHECK_MS = 5 * 60_000;

export interface SuspensionDeps {
  health: WebhookHealthStore;
  queue: DeliveryQueue;
  tierOf(wallet: string): Promise<Tier>;
  now(): Date;
}

/**
 * Resumes a suspended webhook whose wallet has its tier back; false where it stays suspended. The head of its queue carries the time
 * of the next check, so that a suspended webhook costs one reading of the gate in that time, and nothing for each event.
 */
export async function resumeWithTier({ health, queue, tierOf, now }: SuspensionDeps, webhookId: string): Promise<boolean> {
  const head = await queue.findHead(webhookId);
  if (head === null || (head.nextAttemptAt !== null && head.nextAttemptAt > now())) return false;
  if (await hasTier(tierOf, head.wallet)) return health.resume(webhookId);
  await queue.postpone(head, new Date(now().getTime() + TIER_RECHECK_MS));
  return false;
}

/** False also while the chain cannot be read. */
async function hasTier(tierOf: SuspensionDeps['tierOf'], wallet: string): Promise<boolean> {
  try {
    return (await tierOf(wallet)) !== 'public';
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE')) return false;
    throw error;
  }
}
