import { createHash } from 'node:crypto';
import type { PushedName } from '../../event-names.ts';
import type { AnyEvent } from '../../log/event.ts';
import type { WebhookDeliveryDoc } from './delivery.ts';

/** What is to be sent to a webhook. */
export type WebhookMessage = Pick<WebhookDeliveryDoc, 'eventId' | 'messageId' | 'cause'> & { type: PushedName };

/** Why an event is sent that has just happened. */
export const LIVE_CAUSE = 'live';

/** An event as a message. @param cause `live`, or what asked for it: the same event is queued once a cause */
export function toWebhookMessage({ _id, type, key }: AnyEvent, cause: string): WebhookMessage {
  return { eventId: _id, type, messageId: buildMessageId(key), cause };
}

/** `webhook-id` of an event: the same on every resend, at every endpoint, in every process. */
export function buildMessageId(key: string): string {
  return `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
