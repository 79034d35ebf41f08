import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Address, Hash } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { ClaimDoc } from './claim-store.ts';
import type { PaidCall, SaleResult } from './paid-call.ts';
import type { ParsedPayment } from './protocol/payment-payload.ts';
import { type PaymentQuote, PaymentRequiredError } from './protocol/payment-quote.ts';

/**
 * The same payment for the same thing, by somebody who can be told the answer.
 * @throws OracleError CONFLICT for something else; PaymentRequiredError for somebody else
 */
export function requireSameRequest(
  claim: ClaimDoc,
  { call, payment, terms: quote }: { call: PaidCall; payment: ParsedPayment; terms: PaymentQuote },
): void {
  if (claim.digest !== payment.digest) throw paymentReusedError('payment-identifier', 'This payment id came before with another payment');
  if (claim.question !== computeRequestFingerprint(call))
    throw paymentReusedError('payment', 'This payment came before for something else');
  const isItsId = payment.paymentId !== null && [claim.paymentId, claim.formerPaymentId].includes(payment.paymentId);
  // Once it is sent to the chain, everybody can read a payment there: it proves nothing by itself any more.
  if (isItsId || claim.address === call.address) return;
  throw new PaymentRequiredError(quote, 'payment_used', 'This payment was used before', {
    field: 'payment',
    suggestedAction:
      'Sign a new authorization. If you have paid with this one, send it with the payment-identifier that came with it, or fetch the answer by a signature of the wallet: POST /api/svc/commerce/answers.',
  });
}

function paymentReusedError(field: string, problem: string): OracleError {
  return new OracleError('CONFLICT', problem, { field, suggestedAction: 'Sign a new authorization, with a payment id of its own.' });
}

/** What is asked for, in short: another offering or input is another question. */
export function computeRequestFingerprint({ offering, input }: Pick<PaidCall, 'offering' | 'input'>): string {
  const text = canonicalize({ offering: offering.name, input }) as string;
  return createHash('sha256').update(text).digest('hex');
}

/** The payment of a claim. */
export function toParsedPayment({ payload, digest, paymentId }: ClaimDoc): ParsedPayment {
  const { signature, authorization } = payload.payload;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return {
    authorization: {
      from: from.toLowerCase() as Address,
      to: to.toLowerCase() as Address,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce.toLowerCase() as Hash,
    },
    signature,
    paymentId: paymentId ?? null,
    digest,
    payload,
  };
}

/** What a settled claim was opened for, as it was sold. */
export function toSaleResult({
  answer,
  settlement,
  receipt,
  offering,
  payer,
  amountMicros,
  requirements,
  resource,
  ref,
}: ClaimDoc): SaleResult {
  const { txHash, at } = settlement!;
  const { payTo, asset, network: chain } = requirements;
  const payment = {
    ...({ channel: 'x402', offering, resource, ref, chain, txHash, settledAt: at } as const),
    ...{ payer, payee: payTo as Address, asset: asset as Address },
    amountMicros: BigInt(amountMicros.toString()),
  };
  return { body: JSON.parse(answer as string), payment, receipt, isAgain: true };
}
