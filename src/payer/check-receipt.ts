import { type Address, type Hex, isAddressEqual, verifyTypedData } from 'viem';
import { z } from 'zod';
import { getReceiptDomain, hashDocument, RECEIPT_TYPES } from '../commerce/receipts/receipt.ts';
import type { SignedPayment } from './payment-signer.ts';

const HEX = z
  .string()
  .regex(/^0x[0-9a-fA-F]+$/)
  .transform((text) => text as Hex);
const ADDRESS = HEX.refine((text) => text.length === 42);
const BYTES32 = HEX.refine((text) => text.length === 66);
const INTEGER = z.string().regex(/^\d{1,30}$/);

const RECEIPT = z.object({
  message: z.object({
    payer: ADDRESS,
    payee: ADDRESS,
    asset: ADDRESS,
    amount: INTEGER,
    resource: z.string(),
    answerHash: BYTES32,
    forecastId: z.string(),
    attestationUid: BYTES32,
    txHash: BYTES32,
    settledAt: INTEGER,
  }),
  signature: HEX,
});

export interface ReceiptCheck {
  what: string;
  ok: boolean;
}

interface ReceiptContext {
  payment: SignedPayment;
  /** Receipt signer that the service publishes. */
  seller: Address;
  chainId: number;
}

/** Checks that the seller has signed for this payer, this amount and exactly this answer. */
export async function checkReceipt(body: Record<string, unknown>, { payment, seller, chainId }: ReceiptContext): Promise<ReceiptCheck[]> {
  const { payment: paid, receipt, ...answer } = body;
  const { data } = RECEIPT.safeParse(receipt);
  if (data === undefined) return [{ what: 'a readable receipt is present', ok: false }];
  const { message, signature } = data;
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const domain = getReceiptDomain(chainId);
  const signed = { address: seller, domain, types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed, signature } as const;
  const { from, to, value } = payment.payload.authorization;
  const hash = (paid as { txHash?: unknown } | null)?.txHash;
  return [
    { what: `the receipt is signed by the seller, ${seller}`, ok: await verifyTypedData(signed).catch(() => false) },
    { what: `it names this wallet as the payer, ${from}`, ok: isAddressEqual(message.payer, from as Address) },
    {
      what: `it names the authorized payee and amount, ${value} units`,
      ok: isAddressEqual(message.payee, to as Address) && BigInt(message.amount) === BigInt(value),
    },
    { what: 'its hash matches the answer', ok: hashDocument(answer) === message.answerHash },
    { what: 'payment and receipt name the same transaction', ok: hash === message.txHash },
  ];
}
