import { z } from 'zod';
import { SUCCESS } from '../../../../platform/validation/fields.ts';
import { FREE_HOLD_SIGNAL, ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { LOGIN_BODY } from '../../auth/schemas.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';
import { txHashInput } from '../../server/parsing/transaction-hash.ts';
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

export const CHARGED_SIGNAL = z.object({ ...ORACLE_SIGNAL.shape, charged: CHARGED, ...SOLD });

export const PAID_SIGNAL = z.union([CHARGED_SIGNAL, FREE_HOLD]);

export const PAID_PREMIUM_SIGNAL = z.object({ ...PREMIUM_SIGNAL.shape, charged: CHARGED, ...SOLD });

export const ANSWER_BODY = z.strictObject({
  txHash: txHashInput('Transaction that paid for the answer'),
  wallet: rawWalletInput,
  timestamp: LOGIN_BODY.shape.timestamp,
  signature: signatureInput,
});
