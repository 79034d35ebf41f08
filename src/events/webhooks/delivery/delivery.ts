import type { PushedName } from '../../event-names.ts';

/** PENDING: queued or waiting for a retry. FAILED: no attempts left. CANCELLED: the webhook was disabled. */
export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryAttempt {
  at: Date;
  /** HTTP status; null without a response. */
  status: number | null;
  ms: number;
  /** Reason of the failure; null for a delivery. */
  reason: string | null;
}

/** One message to one webhook. `_id` is `<webhook>:<position>`; positions count from 1 in queue order, with gaps after expiry. */
export interface WebhookDeliveryDoc {
  _id: string;
  webhookId: string;
  position: number;
  wallet: string;
  /** Null for a test ping. */
  eventId: number | null;
  type: PushedName | 'ping';
  /** The `webhook-id` header: constant over all retries and replays of an event. */
  messageId: string;
  /** `live`, `replay:<uuid>` or `ping:<uuid>`. */
  cause: string;
  /** Idempotency key `<webhook>:<event>:<cause>`. */
  once: string;
  state: DeliveryState;
  attempts: DeliveryAttempt[];
  /** Earliest next attempt; null behind the head of the queue, and when finished. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Of the request or job that caused it. */
  traceparent?: string;
}
