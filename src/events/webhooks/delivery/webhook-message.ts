import { createHash } from 'node:crypto';
import { pickTraceparent } from '../../../platform/outbox.ts';
import type { PushedName } from '../../event-names.ts';
import type { AnyEvent } from '../../log/event.ts';
import type { WebhookDeliveryDoc } from './delivery.ts';

export type WebhookMessage = Pick<WebhookDeliveryDoc, 'eventId' | 'messageId' | 'cause' | 'traceparent'> & { type: PushedName };

export const LIVE_CAUSE = 'live';

/** @param cause `live`, or that of a replay: the same event is queued once per cause */
export function toWebhookMessage(event: AnyEvent, cause: string): WebhookMessage {
  const { _id, type, key } = event;
  return { eventId: _id, type, messageId: buildMessageId(key), cause, ...pickTraceparent(event) };
}

/** `webhook-id` of an event: constant over retries, endpoints and processes. */
export function buildMessageId(key: string): string {
  return `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
