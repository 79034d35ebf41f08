import type { Hash } from 'viem';
import { z } from 'zod';
import { SUCCESS } from '../../../../platform/validation/fields.ts';
import { FREE_HOLD_SIGNAL, ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { LOGIN_BODY } from '../../auth/schemas.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';
import { rawWalletInput, signatureInput } from '../../server/parsing/wallet-parameters.ts';
import { SOLD } from '../payment-schemas.ts';

export const CHARGED = z.literal(true).describe('True: the answer was paid');

export const UNCHARGED = {
  charged: z.literal(false).describe('False: the payment was not used and is valid for another request'),
  payment: z.null().describe('Null: nothing was paid'),
  receipt: z.null().describe('Null: an unpaid answer has no receipt'),
};

const FREE_HOLD = z.object({
  success: SUCCESS,
  ...FREE_HOLD_SIGNAL.shape,
  charged: UNCHARGED.charged,
  note: z.string().describe('The same as text'),
  payment: UNCHARGED.payment,
  receipt: UNCHARGED.receipt,
});

export const PAID_SIGNAL = z.union([z.object({ ...ORACLE_SIGNAL.shape, charged: CHARGED, ...SOLD }), FREE_HOLD]);

export const PAID_PREMIUM_SIGNAL = z.object({ ...PREMIUM_SIGNAL.shape, charged: CHARGED, ...SOLD });

export const ANSWER_BODY = z.strictObject({
  txHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .transform((text) => text.toLowerCase() as Hash)
    .meta({ description: 'Transaction that paid for the answer', override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' } }),
  wallet: rawWalletInput,
  timestamp: LOGIN_BODY.shape.timestamp,
  signature: signatureInput,
});
