import { type Address, type Hex, isAddressEqual, verifyTypedData } from 'viem';
import { z } from 'zod';
import { OFFER_RECEIPT, toX402ReceiptTypedData, type X402ReceiptPayload } from '../commerce/receipts/offer-receipt.ts';
import type { ReceiptCheck } from './check-receipt.ts';

const SETTLEMENT = z.object({ extensions: z.object({ [OFFER_RECEIPT]: z.object({ info: z.object({ receipt: z.unknown() }) }) }) });

const X402_RECEIPT = z.object({
  format: z.literal('eip712'),
  payload: z.object({
    version: z.literal(1),
    network: z.string(),
    resourceUrl: z.string(),
    payer: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
    issuedAt: z.int().min(0),
    transaction: z.string(),
  }),
  signature: z.string().regex(/^0x[0-9a-fA-F]+$/),
});

interface X402ReceiptContext {
  payer: string;
  /** As in the answer. */
  payment: { resource?: unknown; txHash?: unknown };
  /** Receipt signer that the service publishes. */
  seller: Address;
  chainId: number;
}

/** Checks the receipt of the x402 extension in a settlement response. Empty without one: the extension is optional. */
export async function checkX402Receipt(settlement: unknown, context: X402ReceiptContext): Promise<ReceiptCheck[]> {
  const { data: settled } = SETTLEMENT.safeParse(settlement);
  if (settled === undefined) return [];
  const { data } = X402_RECEIPT.safeParse(settled.extensions[OFFER_RECEIPT].info.receipt);
  if (data === undefined) return [{ what: 'the x402 receipt is readable', ok: false }];
  const { payer, payment, seller, chainId } = context;
  const payload = data.payload as X402ReceiptPayload;
  const signed = { address: seller, ...toX402ReceiptTypedData(payload), signature: data.signature as Hex };
  const isSameSale =
    payload.network === `eip155:${chainId}` &&
    payload.resourceUrl === payment.resource &&
    payload.transaction === payment.txHash &&
    isAddressEqual(payload.payer, payer as Address);
  return [
    { what: 'the x402 receipt is signed by the same seller', ok: await verifyTypedData(signed).catch(() => false) },
    { what: 'it names the same payer, resource and transaction', ok: isSameSale },
  ];
}
