import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import type { PaidCall } from './paid-call.ts';
import { type ParsedPayment, requireValidNow } from './protocol/payment-payload.ts';
import type { PaymentQuote } from './protocol/payment-quote.ts';
import { isKeySigned } from './settlement/authorization-signature.ts';

export interface AdmissionDeps {
  failures: FailedSettlementStore;
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
  { call, payment, terms: quote }: { call: PaidCall; payment: ParsedPayment; terms: PaymentQuote },
): Promise<ClaimedPayer> {
  requireValidNow(payment, quote, now());
  const wallet = payment.authorization.from;
  const payer = { wallet, isProven: await isKeySigned(payment, quote.requirements) };
  call.requireRejectionAllowance(payer);
  await failures.requireBelowLimit({ payer: wallet, address: call.address }, now());
  return payer;
}
