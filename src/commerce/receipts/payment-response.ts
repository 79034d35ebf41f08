import { getAddress } from 'viem';
import { buildPaymentFeedbackPath } from '../feedback/feedback-path.ts';
import type { SettledPayment } from '../ledger/payment.ts';
import { formatAmount, usdFromMicros } from '../money.ts';
import { getOfferingId } from '../price-list.ts';
import type { SignedReceipt } from './receipt.ts';

export interface ReceivedPayment extends Omit<SettledPayment, 'cause' | 'resource'> {
  /** Resource as named in the receipt. */
  resource: string;
  chain: string;
}

/** Payment as JSON for all transports: checksummed addresses, decimal amounts, ISO 8601 time. */
export function toPaymentResponse({ channel, offering, amountMicros, settledAt, ...payment }: ReceivedPayment) {
  const { resource, payer, payee, asset, chain, txHash, ref } = payment;
  return {
    offering: getOfferingId({ channel, name: offering }),
    resource,
    payer: getAddress(payer),
    payee: getAddress(payee),
    asset: getAddress(asset),
    chain,
    amount: amountMicros.toString(),
    usd: formatAmount(usdFromMicros(amountMicros)),
    txHash,
    settledAt: settledAt.toISOString(),
    ref,
    feedbackPath: buildPaymentFeedbackPath(payment),
  };
}

export function toReceiptResponse({ types, ...signed }: SignedReceipt) {
  return { ...signed, types: { Receipt: types.Receipt.map((field) => ({ ...field })) } };
}
