import type { ClaimedPayer } from '../../chain/claimed-payer.ts';
import { isKeySigned } from './authorization-signature.ts';
import type { FailedSettlements } from './failed-settlements.ts';
import type { PaidCall } from './paid-call.ts';
import { type Payment, requireInTime } from './payload.ts';
import type { Terms } from './terms.ts';

export interface AdmissionDeps {
  failures: FailedSettlements;
  now(): Date;
}

/**
 * Rejects a new payment that is not worth asking the chain about, before the chain is asked.
 * @returns its payer, proven where the signature of its key is on the payment
 * @throws PaymentRequiredError for one that is not good at this time; OracleError RATE_LIMITED for a payer or an address whose payments
 * were rejected, or could not be settled, too often
 */
export async function admitPayment(
  { failures, now }: AdmissionDeps,
  { call, payment, terms }: { call: PaidCall; payment: Payment; terms: Terms },
): Promise<ClaimedPayer> {
  requireInTime(payment, terms, now());
  const wallet = payment.authorization.from;
  const payer = { wallet, isProven: await isKeySigned(payment, terms.requirements) };
  call.requireRoom(payer);
  await failures.requireFewer({ payer: wallet, address: call.address }, now());
  return payer;
}
