import { createHash } from 'node:crypto';
import type { PushedName } from '../event-names.ts';
import type { AnyEvent } from '../events/event.ts';
import type { DeliveryDoc } from './delivery.ts';

/** What is to be sent to a webhook. */
export type Message = Pick<DeliveryDoc, 'eventId' | 'messageId' | 'cause'> & { type: PushedName };

/** Why an event is sent that has just happened. */
export const LIVE = 'live';

/** An event as a message. @param cause `live`, or what asked for it: the same event is queued once a cause */
export function messageOf({ _id, type, key }: AnyEvent, cause: string): Message {
  return { eventId: _id, type, messageId: messageIdOf(key), cause };
}

/** `webhook-id` of an event: the same on every resend, at every endpoint, in every process. */
export function messageIdOf(key: string): string {
  return `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
