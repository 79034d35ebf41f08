import { PAYMENT_OUTCOMES, type PaymentOutcome } from '../../commerce/x402/payment-outcome.ts';
import type { DeliveryAttempt, WebhookDeliveryDoc } from '../../events/webhooks/delivery/delivery.ts';
import { UNCOUNTED_EVENTS } from './uncounted.ts';

/** Counts of a process since its start. */
export interface WorkCounts {
  payments: Record<PaymentOutcome, number>;
  deliveryAttempts: { delivered: number; failed: number };
}

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
