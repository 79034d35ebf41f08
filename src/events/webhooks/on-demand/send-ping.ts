import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { TIME } from '../../../platform/validation/fields.ts';
import { type CallWebhookDeps, callWebhook } from '../delivery/call-webhook.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import type { HostLimiter } from '../limits/host-limiter.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

/** What a test sends: the envelope of the events, with a type that nothing can be registered for. */
export const PING_MESSAGE = z.object({
  id: z.null().describe('null: a test stands in no event log'),
  type: z.literal('ping').describe('Kind of message'),
  timestamp: TIME.describe('When the test was asked for'),
  data: z.object({ webhookId: z.uuid().describe('The webhook that is tested') }),
});

export interface SendPingDeps extends CallWebhookDeps {
  queue: DeliveryQueue;
  hosts: HostLimiter;
}

/** A host that has its share under way, or had it this minute, is not called by tests either. */
const RETRY_AFTER_SECONDS = { busy: 5, spent: 30 } as const;

/**
 * Sends a signed test to a webhook now, past its queue, disabled or not, and writes it into its log. It changes nothing of the
 * webhook, whatever the receiver answers.
 * @throws OracleError RATE_LIMITED when its host has been called too often, or too many names are being looked up; CONFLICT when its secret
 * does not open any more
 */
export async function sendPing(deps: SendPingDeps, webhook: WebhookDoc): Promise<WebhookDeliveryDoc> {
  const { queue, hosts, now } = deps;
  const [createdAt, name] = [now(), randomUUID()];
  const messageId = `ping_${name.replaceAll('-', '')}`;
  const message: z.input<typeof PING_MESSAGE> = {
    id: null,
    type: 'ping',
    timestamp: createdAt.toISOString(),
    data: { webhookId: webhook._id },
  };
  const call = { messageId, body: JSON.stringify(message) };
  const called = await hosts.run(webhook, () => callWebhook(deps, webhook, call).catch(rethrowUnreadableSecret));
  if (typeof called === 'string') throw hostLimitReached(RETRY_AFTER_SECONDS[called]);
  const { attempt } = called;
  return queue.insertFinished(webhook, {
    eventId: null,
    type: 'ping',
    messageId,
    cause: `ping:${name}`,
    once: `${webhook._id}:ping:${name}`,
    state: attempt.reason === null ? 'DELIVERED' : 'FAILED',
    attempts: [attempt],
    nextAttemptAt: null,
    createdAt,
    finishedAt: now(),
  });
}

/** It was sealed under a setting that is the operator's; that a new one mends it is what its owner can use. */
function rethrowUnreadableSecret(error: unknown): never {
  if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
  throw new OracleError('CONFLICT', 'The secret of this webhook cannot be read any more: nothing can be signed with it', {
    suggestedAction: 'Give it a new one by POST /api/svc/webhooks/{id}/secret; what waits for it follows within a minute.',
    cause: error,
  });
}

function hostLimitReached(retryAfterSeconds: number): OracleError {
  return new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
    suggestedAction: 'Test it later.',
    retryAfterSeconds,
  });
}
