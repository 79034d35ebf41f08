import type { Called } from './call.ts';
import type { Verdict } from './queue.ts';
import { FAILING_FOR_MS, nextAttempt } from './retry.ts';
import type { End } from './standing.ts';
import type { WebhookDoc } from './webhook.ts';

/** What a receiver answers that is never to be called again. */
const GONE = 410;

interface Tried {
  webhook: Pick<WebhookDoc, 'failingSince'>;
  /** Of this delivery, this one included. */
  attempts: number;
  called: Called;
}

/** What follows from an attempt: for the delivery, and for the webhook where it ends. */
export interface Outcome {
  verdict: Verdict;
  end: Omit<End, 'at'> | null;
}

/** What Standard Webhooks says of an answer. @param random from 0 to below 1 */
export function judge({ webhook, attempts, called: { attempt, retryAfterSeconds } }: Tried, random: () => number): Outcome {
  const { at, status, reason } = attempt;
  if (reason === null) return { verdict: { state: 'DELIVERED' }, end: null };
  const failingSince = webhook.failingSince ?? at;
  if (status === GONE) return ended({ by: 'receiver', reason: 'The receiver answered 410 Gone', failingSince });
  if (at.getTime() - failingSince.getTime() >= FAILING_FOR_MS) {
    return ended({ by: 'failures', reason: `Every attempt has failed for five days; the last one: ${reason}`, failingSince });
  }
  const nextAttemptAt = nextAttempt({ attempts, at, retryAfterSeconds }, random);
  return { verdict: nextAttemptAt === null ? { state: 'FAILED' } : { state: 'PENDING', nextAttemptAt }, end: null };
}

function ended(end: Omit<End, 'at'>): Outcome {
  return { verdict: { state: 'CANCELLED' }, end };
}
