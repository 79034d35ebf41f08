import { randomUUID } from 'node:crypto';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { type CallWebhookDeps, callWebhook } from '../delivery/call-webhook.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import { renderMessage } from '../formats/render-message.ts';
import type { ChatPaceStore } from '../limits/chat-pace-store.ts';
import type { HostLimiter } from '../limits/host-limiter.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import type { PingMessage } from './ping-message.ts';

export interface SendPingDeps extends CallWebhookDeps {
  queue: DeliveryQueue;
  hosts: HostLimiter;
  pace: ChatPaceStore;
  /** For links in messages to chats. */
  publicUrl: string;
}

/** `Retry-After` when the host limit rejects a test. */
const RETRY_AFTER_SECONDS = { busy: 5, spent: 30 } as const;

/** Sent at once, bypassing queue and status. @throws OracleError RATE_LIMITED by host, chat or name lookups; CONFLICT for an unreadable secret */
export async function sendPing(deps: SendPingDeps, webhook: WebhookDoc): Promise<WebhookDeliveryDoc> {
  const { queue, hosts, pace, now, publicUrl } = deps;
  const [createdAt, name] = [now(), randomUUID()];
  const messageId = `ping_${name.replaceAll('-', '')}`;
  const data = { webhookId: webhook._id };
  const message: PingMessage = { id: null, type: 'ping', timestamp: createdAt.toISOString(), data };
  const call = { messageId, body: renderMessage(webhook, message, publicUrl) };
  const waitMs = await pace.reserve(webhook);
  if (waitMs > 0) throw chatBusy(Math.ceil(waitMs / 1_000));
  const called = await hosts.run(webhook, () => callWebhook(deps, webhook, call).catch(rethrowUnreadableSecret));
  if (typeof called === 'string') throw hostLimitReached(RETRY_AFTER_SECONDS[called]);
  const { attempt, pauseMs } = called;
  const delivery = await queue.insertFinished(webhook, {
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
  await pace.pause(webhook, pauseMs);
  return delivery;
}

/** The cause is a setting of the operator; the owner can only set a new secret. */
function rethrowUnreadableSecret(error: unknown): never {
  if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
  throw new OracleError('CONFLICT', 'The secret or the URL of this webhook cannot be read any more: nothing can be sent', {
    suggestedAction:
      'Set a new secret with POST /api/svc/webhooks/{id}/secret, and the URL of a chat with PATCH /api/svc/webhooks/{id}; waiting deliveries follow within a minute.',
    cause: error,
  });
}

function chatBusy(retryAfterSeconds: number): OracleError {
  return new OracleError('RATE_LIMITED', 'A message was sent to this chat just now, which accepts only so many', {
    suggestedAction: 'Retry the test later.',
    retryAfterSeconds,
  });
}

function hostLimitReached(retryAfterSeconds: number): OracleError {
  return new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
    suggestedAction: 'Retry the test later.',
    retryAfterSeconds,
  });
}
