import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SignedPayment } from '../../../payer/payment-signer.ts';
import type { CliContext } from '../context.ts';
import { createPrivateFile, getConfigFolder, readJsonFile } from '../secrets/private-files.ts';

const DECIMAL = z.string().regex(/^\d{1,30}$/);

const PENDING_PAYMENT = z.object({
  signedAt: z.iso.datetime(),
  payment: z.looseObject({
    x402Version: z.literal(2),
    accepted: z.looseObject({ network: z.string(), asset: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
    payload: z.object({
      signature: z.string().regex(/^0x[0-9a-f]+$/),
      authorization: z.object({
        from: z.string(),
        to: z.string(),
        value: DECIMAL,
        validAfter: DECIMAL,
        validBefore: DECIMAL,
        nonce: z.string(),
      }),
    }),
  }),
});

export interface PendingPayment {
  signedAt: string;
  payment: SignedPayment;
}

/** What a payment is for. While one payment may still be used, no second one is signed for the same purchase. */
export interface Purchase {
  url: string;
  path: string;
  wallet: string;
}

export async function readPendingPayment(context: CliContext, purchase: Purchase): Promise<PendingPayment | null> {
  const pending = await readJsonFile(getPaymentFile(context, purchase));
  // Not the parsed value, which could reorder keys: the payment is resent byte for byte.
  return PENDING_PAYMENT.safeParse(pending).success ? (pending as PendingPayment) : null;
}

/** @returns false when a payment for the purchase exists @throws OracleError CONFIG_INVALID */
export function storePendingPayment(context: CliContext, purchase: Purchase, pending: PendingPayment): Promise<boolean> {
  return createPrivateFile(getPaymentFile(context, purchase), pending);
}

/** Deletes this payment, but not one that another call has stored in the meantime. */
export async function removePendingPayment(context: CliContext, purchase: Purchase, { payload }: SignedPayment): Promise<void> {
  const pending = await readPendingPayment(context, purchase);
  if (pending !== null && pending.payment.payload.authorization.nonce !== payload.authorization.nonce) return;
  await rm(getPaymentFile(context, purchase), { force: true });
}

export function getPaymentFile(context: CliContext, { url, path, wallet }: Purchase): string {
  const name = createHash('sha256').update(`${url}${path} ${wallet.toLowerCase()}`).digest('hex').slice(0, 32);
  return join(getConfigFolder(context), 'payments', `${name}.json`);
}
