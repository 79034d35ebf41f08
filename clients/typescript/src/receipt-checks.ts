import { checkReceipt, type ReceiptCheck } from '../../../src/payer/check-receipt.ts';
import { checkX402Receipt } from '../../../src/payer/check-x402-receipt.ts';
import type { SignedPayment } from '../../../src/payer/payment-signer.ts';
import { TransportError } from './errors.ts';
import { readJson, type Send } from './http.ts';

interface Purchase {
  payment: SignedPayment;
  seller: `0x${string}`;
  settlement: unknown;
}

/** Wallet that signs receipts, as the service publishes it. @throws TransportError, ServiceProblem */
export async function fetchReceiptSigner(url: string, send: Send): Promise<`0x${string}`> {
  const headers = { Accept: 'application/json' };
  const document = (await readJson(await send(new Request(`${url}/.well-known/x402.json`, { headers })))) as {
    receipt?: { signer?: unknown };
  };
  const signer = document.receipt?.signer;
  if (typeof signer === 'string' && /^0x[0-9a-fA-F]{40}$/.test(signer)) return signer as `0x${string}`;
  throw new TransportError('/.well-known/x402.json names no signer of receipts: is this the address of the service?');
}

/** That the seller has signed for this payer, this amount and exactly this answer, and the same in its x402 receipt where there is one. */
export async function checkPurchase(answer: Record<string, unknown>, { payment, seller, settlement }: Purchase): Promise<ReceiptCheck[]> {
  const issuer = { seller, chainId: Number(String(payment.accepted.network).split(':')[1]) };
  const sale = { payer: payment.payload.authorization.from, payment: (answer.payment ?? {}) as { resource?: unknown; txHash?: unknown } };
  return [...(await checkReceipt(answer, { payment, ...issuer })), ...(await checkX402Receipt(settlement, { ...sale, ...issuer }))];
}
