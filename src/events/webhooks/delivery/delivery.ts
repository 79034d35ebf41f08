import type { PushedName } from '../../event-names.ts';

/** PENDING: waits for its turn or its next attempt. FAILED: all attempts are used up. CANCELLED: its webhook was disabled. */
export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One call of a webhook. */
export interface DeliveryAttempt {
  at: Date;
  /** HTTP status that was answered; null when nobody answered. */
  status: number | null;
  /** How long it took, in milliseconds. */
  ms: number;
  /** Why it did not count as delivered; null when it did. */
  reason: string | null;
}

/**
 * One message to one webhook. `_id` is `<webhook>:<position>`; a webhook's positions count up from 1: its queue, in order. What is kept
 * no longer leaves gaps.
 */
export interface WebhookDeliveryDoc {
  _id: string;
  webhookId: string;
  position: number;
  /** In lower case. */
  wallet: string;
  /** Of the event log; null for a test ping. */
  eventId: number | null;
  type: PushedName | 'ping';
  /** `webhook-id` of the standard: the same for the same event, however often it is sent. */
  messageId: string;
  /** `live`, or what asked for it: `replay:<uuid>`, `ping:<uuid>`. */
  cause: string;
  /** `<webhook>:<event>:<cause>`: the same event is queued once a cause. */
  once: string;
  state: DeliveryState;
  attempts: DeliveryAttempt[];
  /** When it is tried next at the earliest; null while it waits for those before it, and once it is over. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
}
