import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Address } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { ClaimDoc } from './claim-store.ts';
import type { IncomingPayment, PaidCall, SaleResult } from './paid-call.ts';
import { type ParsedPayment, type PaymentListing, toAuthorization } from './protocol/payment-payload.ts';
import { PaymentRequiredError } from './protocol/payment-quote.ts';

/** The same request, from a client entitled to its answer. @throws OracleError CONFLICT for another request; PaymentRequiredError */
export function requireSameRequest(claim: ClaimDoc, { call, payment, quote }: IncomingPayment): void {
  if (claim.digest !== payment.digest) throw paymentReusedError('payment-identifier', 'This payment id was used with another payment');
  if (claim.question !== computeRequestFingerprint(call)) throw paymentReusedError('payment', 'This payment was used for another request');
  const hasIdentifier = payment.paymentId !== null && [claim.paymentId, claim.formerPaymentId].includes(payment.paymentId);
  // Once settled, an authorization is public on chain and no longer proves who sends it.
  if (hasIdentifier || claim.address === call.address) return;
  throw new PaymentRequiredError(quote, 'payment_used', 'This payment was used before', {
    field: 'payment',
    suggestedAction:
      'Sign a new authorization. If you paid with this one, repeat it with its payment-identifier, or fetch the answer with a wallet signature: POST /api/svc/commerce/answers.',
  });
}

function paymentReusedError(field: string, problem: string): OracleError {
  return new OracleError('CONFLICT', problem, { field, suggestedAction: 'Sign a new authorization with a new payment id.' });
}

export function computeRequestFingerprint({ offering, input }: Pick<PaidCall, 'offering' | 'input'>): string {
  const text = canonicalize({ offering: offering.name, input }) as string;
  return createHash('sha256').update(text).digest('hex');
}

export function toParsedPayment({ payload, digest, paymentId }: ClaimDoc, listing?: PaymentListing): ParsedPayment {
  const { signature, authorization } = payload.payload;
  return { authorization: toAuthorization(authorization), signature, paymentId: paymentId ?? null, digest, payload, listing };
}

export function toSaleResult({ answer, settlement, receipt, x402Receipt = null, requirements, ...claim }: ClaimDoc): SaleResult {
  const payment = {
    channel: 'x402' as const,
    offering: claim.offering,
    resource: claim.resource,
    ref: claim.ref,
    chain: requirements.network,
    txHash: settlement!.txHash,
    settledAt: settlement!.at,
    payer: claim.payer,
    payee: requirements.payTo as Address,
    asset: requirements.asset as Address,
    amountMicros: BigInt(claim.amountMicros.toString()),
  };
  return { body: JSON.parse(answer as string), payment, receipt, x402Receipt, isAgain: true };
}
