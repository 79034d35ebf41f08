import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { TIME } from '../../../platform/validation/fields.ts';
import { type CallWebhookDeps, callWebhook } from '../delivery/call-webhook.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import type { HostLimiter } from '../limits/host-limiter.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

export const PING_MESSAGE = z.object({
  id: z.null().describe('Null: a test is not in the event log'),
  type: z.literal('ping').describe('Kind of message'),
  timestamp: TIME.describe('Time of the test request'),
  data: z.object({ webhookId: z.uuid().describe('The tested webhook') }),
});

export interface SendPingDeps extends CallWebhookDeps {
  queue: DeliveryQueue;
  hosts: HostLimiter;
}

/** `Retry-After` when the host limit rejects a test. */
const RETRY_AFTER_SECONDS = { busy: 5, spent: 30 } as const;

/** Sent at once, bypassing queue and status. @throws OracleError RATE_LIMITED by host or name lookups; CONFLICT for an unreadable secret */
export async function sendPing(deps: SendPingDeps, webhook: WebhookDoc): Promise<WebhookDeliveryDoc> {
  const { queue, hosts, now } = deps;
  const [createdAt, name] = [now(), randomUUID()];
  const messageId = `ping_${name.replaceAll('-', '')}`;
  const data = { webhookId: webhook._id };
  const message: z.input<typeof PING_MESSAGE> = { id: null, type: 'ping', timestamp: createdAt.toISOString(), data };
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

/** The cause is a setting of the operator; the owner can only set a new secret. */
function rethrowUnreadableSecret(error: unknown): never {
  if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
  throw new OracleError('CONFLICT', 'The secret of this webhook cannot be read any more: nothing can be signed with it', {
    suggestedAction: 'Set a new one with POST /api/svc/webhooks/{id}/secret; waiting deliveries follow within a minute.',
    cause: error,
  });
}

function hostLimitReached(retryAfterSeconds: number): OracleError {
  return new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
    suggestedAction: 'Retry the test later.',
    retryAfterSeconds,
  });
}
