import type { WebhookCallResult } from '../delivery/call-webhook.ts';
import type { DeliveryTransition } from '../delivery/delivery-queue.ts';
import type { Disablement } from '../health/webhook-health.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { DISABLE_AFTER_FAILING_MS, getNextAttemptAt } from './retry-schedule.ts';

interface AttemptContext {
  webhook: Pick<WebhookDoc, 'failingSince'>;
  attempts: number;
  called: Omit<WebhookCallResult, 'pauseMs'>;
}

export interface AttemptOutcome {
  verdict: DeliveryTransition;
  end: Omit<Disablement, 'at'> | null;
}

/** Outcome of an attempt by Standard Webhooks. @param random from 0 to below 1 */
export function decideOutcome(context: AttemptContext, random: () => number): AttemptOutcome {
  const {
    webhook,
    attempts,
    called: { attempt, retryAfterSeconds, ended },
  } = context;
  const { at, reason } = attempt;
  if (reason === null) return { verdict: { state: 'DELIVERED' }, end: null };
  const failingSince = webhook.failingSince ?? at;
  if (ended !== null) return disablingOutcome({ by: 'receiver', reason: ended, failingSince });
  if (at.getTime() - failingSince.getTime() >= DISABLE_AFTER_FAILING_MS) {
    return disablingOutcome({ by: 'failures', reason: `Every attempt has failed for five days; the last one: ${reason}`, failingSince });
  }
  const nextAttemptAt = getNextAttemptAt({ attempts, at, retryAfterSeconds }, random);
  return { verdict: nextAttemptAt === null ? { state: 'FAILED' } : { state: 'PENDING', nextAttemptAt }, end: null };
}

function disablingOutcome(end: Omit<Disablement, 'at'>): AttemptOutcome {
  return { verdict: { state: 'CANCELLED' }, end };
}
