import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import type { IncomingPayment } from './paid-call.ts';
import { requireValidNow } from './protocol/payment-payload.ts';
import { isKeySigned } from './settlement/authorization-signature.ts';

export interface AdmissionDeps {
  failures: FailedSettlementStore;
  now(): Date;
}

/** Before any chain read. @throws PaymentRequiredError for an authorization that is not valid now; OracleError RATE_LIMITED */
export async function admitPayment({ failures, now }: AdmissionDeps, { call, payment, quote }: IncomingPayment): Promise<ClaimedPayer> {
  requireValidNow(payment, quote, now());
  const wallet = payment.authorization.from;
  const belowLimit = failures.requireBelowLimit({ payer: wallet, address: call.address }, now());
  // The signature is recovered while the database answers; a rejection of the caller's allowance comes first.
  belowLimit.catch(() => undefined);
  const payer = { wallet, isProven: await isKeySigned(payment, quote.requirements) };
  call.requireRejectionAllowance(payer);
  await belowLimit;
  return payer;
}
