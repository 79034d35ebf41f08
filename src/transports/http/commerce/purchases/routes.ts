import type { z } from 'zod';
import type { PurchaseDelivery } from '../../../../commerce/purchases/purchase.ts';
import { toPaymentResponse, toReceiptResponse } from '../../../../commerce/receipts/payment-response.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { PURCHASE_BODY, PURCHASE_REPLY } from './schemas.ts';

/** Interface, sections 2.8 and 4.5. */
export function purchaseRoutes({ purchases }: Pick<HttpDeps, 'purchases'>): Route[] {
  return [
    route('POST /api/svc/commerce/purchase', 'buyOffering', {
      tag: 'commerce',
      cost: 'rpc',
      deliversPaid: true,
      summary: 'Buys a document with a stablecoin transfer',
      description:
        'Transfer the price to the payee, then send the transaction hash. The payment is verified on chain: asset, recipient, sender, amount, age and depth. A transaction buys one document, once; the same request returns the same document at any later time, also where composing it failed at first. On a real chain the paying wallet signs the claim: without a signature the response is 402 with the text to sign as `signMessage`. A transfer that the node has not seen or confirmed answers 503 with `Retry-After`: retry. Where no signature is required, an unsigned claim is redelivered only to the address of its first request.',
      body: PURCHASE_BODY,
      reply: PURCHASE_REPLY,
      errors: [
        'UNAUTHENTICATED',
        'PAYMENT_REQUIRED',
        'TRANSACTION_UNCONFIRMED',
        'CHAIN_UNREACHABLE',
        'SIGNER_UNAVAILABLE',
        'STEP_WAITING',
        'PRICE_UNAVAILABLE',
        'FEED_UNAVAILABLE',
        'CONFLICT',
      ],
      handle: async ({ body, context }) => ({ body: toPurchaseReply(await purchases.buy(body, context)) }),
    }),
  ];
}

type PurchaseReply = z.input<typeof PURCHASE_REPLY>;

function toPurchaseReply({ deliveredAt, document, payment, receipt, ...delivered }: PurchaseDelivery): PurchaseReply {
  const { offering } = delivered;
  return {
    success: true,
    ...delivered,
    deliveredAt: deliveredAt.toISOString(),
    // Stored as text, since the receipt signs its bytes.
    document: document as PurchaseReply['document'],
    payment: toPaymentResponse({ ...payment, channel: 'purchase', offering, resource: receipt.message.resource }),
    receipt: toReceiptResponse(receipt),
  };
}
