import type { z } from 'zod';
import type { PurchaseDelivery } from '../../../../commerce/purchases/purchase.ts';
import { toPaymentResponse, toReceiptResponse } from '../../../../commerce/receipts/payment-response.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { PURCHASE_BODY, PURCHASE_REPLY } from './schemas.ts';

/** Interface, sections 2.8 and 4.5. */
export function purchaseRoutes({ purchases }: Pick<HttpDeps, 'purchases'>): Route[] {
  return [
    route({
      method: 'post',
      path: '/api/svc/commerce/purchase',
      name: 'buyOffering',
      tag: 'commerce',
      cost: 'rpc',
      summary: 'A document for a transfer of the stablecoin that has paid its price',
      description:
        'Send the price to the payee, then the hash of that transfer. The payment is read from the chain: coin, recipient, sender, sum, age and depth. A transaction buys one document, once; the same request gets the same document again, however late, and a document that could not be made is delivered by the same request later. On a real chain the claim is signed by the wallet that paid: without a signature the answer is 402, and `signMessage` is the exact text to sign. A transfer that the node has not seen, or that is not deep enough, is answered 503 with `Retry-After`: send the same request again. Where no signature is required, an unsigned claim is delivered again to the address of its first request only.',
      body: PURCHASE_BODY,
      reply: PURCHASE_REPLY,
      errors: [
        'UNAUTHENTICATED',
        'PAYMENT_REQUIRED',
        'TRANSACTION_UNCONFIRMED',
        'CHAIN_UNREACHABLE',
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
