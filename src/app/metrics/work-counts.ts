import { PAYMENT_OUTCOMES, type PaymentOutcome } from '../../commerce/x402/payment-outcome.ts';
import type { PushedName } from '../../events/event-names.ts';
import type { DeliveryAttempt, WebhookDeliveryDoc } from '../../events/webhooks/delivery/delivery.ts';

/** Counts of a process since its start. */
export interface WorkCounts {
  payments: Record<PaymentOutcome, number>;
  deliveryAttempts: { delivered: number; failed: number };
}

/** A settled wager says that the forecast of its day is no HOLD, perhaps before that is revealed. */
export const UNCOUNTED_EVENTS: readonly PushedName[] = ['wager.placed', 'wager.settled'];

export function createWorkCounts(): WorkCounts {
  const payments = Object.fromEntries(PAYMENT_OUTCOMES.map((outcome) => [outcome, 0])) as WorkCounts['payments'];
  return { payments, deliveryAttempts: { delivered: 0, failed: 0 } };
}

export function countPayment({ payments }: WorkCounts, outcome: PaymentOutcome): void {
  payments[outcome] += 1;
}

export function countDeliveryAttempt(
  { deliveryAttempts }: WorkCounts,
  { type }: Pick<WebhookDeliveryDoc, 'type'>,
  { reason }: Pick<DeliveryAttempt, 'reason'>,
): void {
  if (UNCOUNTED_EVENTS.some((name) => name === type)) return;
  deliveryAttempts[reason === null ? 'delivered' : 'failed'] += 1;
}
