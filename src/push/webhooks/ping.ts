import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { TIME } from '../../fields.ts';
import type { HostGate } from '../host-gate.ts';
import { type CallParts, callWebhook } from './call.ts';
import type { DeliveryDoc } from './delivery.ts';
import type { DeliveryQueue } from './queue.ts';
import type { WebhookDoc } from './webhook.ts';

/** What a test sends: the envelope of the events, with a type that nothing can be registered for. */
export const PING_MESSAGE = z.object({
  id: z.null().describe('null: a test stands in no event log'),
  type: z.literal('ping').describe('Kind of message'),
  timestamp: TIME.describe('When the test was asked for'),
  data: z.object({ webhookId: z.uuid().describe('The webhook that is tested') }),
});

export interface PingParts extends CallParts {
  queue: DeliveryQueue;
  hosts: HostGate;
}

/** A host that has its share under way, or had it this minute, is not called by tests either. */
const AGAIN_SECONDS = { busy: 5, spent: 30 } as const;

/**
 * Sends a signed test to a webhook now, past its queue, disabled or not, and writes it into its log. It changes nothing of the
 * webhook, whatever the receiver answers.
 * @throws OracleError RATE_LIMITED when its host has been called too often, or too many names are being looked up
 */
export async function sendPing(parts: PingParts, webhook: WebhookDoc): Promise<DeliveryDoc> {
  const { queue, hosts, now } = parts;
  const [createdAt, name] = [now(), randomUUID()];
  const messageId = `ping_${name.replaceAll('-', '')}`;
  const message: z.input<typeof PING_MESSAGE> = {
    id: null,
    type: 'ping',
    timestamp: createdAt.toISOString(),
    data: { webhookId: webhook._id },
  };
  const called = await hosts.run(webhook, () => callWebhook(parts, webhook, { messageId, body: JSON.stringify(message) }));
  if (typeof called === 'string') throw tooOften(AGAIN_SECONDS[called]);
  const { attempt } = called;
  return queue.note(webhook, {
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

function tooOften(retryAfterSeconds: number): OracleError {
  return new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
    suggestedAction: 'Test it later.',
    retryAfterSeconds,
  });
}
