import { z } from 'zod';
import { SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { FORECAST_ID, FORECAST_STATE } from '../../../../record/schemas/forecast.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { LOGIN_BODY } from '../../auth/schemas.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';
import { txHashInput } from '../../server/parsing/transaction-hash.ts';
import { rawWalletInput, signatureInput } from '../../server/parsing/wallet-parameters.ts';
import { SOLD } from '../payment-schemas.ts';

const CHARGED = z.literal(true).describe('True: the answer was paid');

const UNPAID = z.null().describe('Null: not part of a free abstention; a paid answer has it');

const FREE_HOLD = z.object({
  success: SUCCESS,
  signal: z.literal('HOLD').describe('The oracle abstains'),
  direction: UNPAID,
  confidence: UNPAID,
  pUp: UNPAID,
  horizon: FORECAST_ID.horizon,
  date: FORECAST_ID.date,
  predictionId: FORECAST_ID.predictionId,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  nextSignalAt: TIME.nullable().describe('When the next forecast is due; null where the market data ends before'),
  charged: z.literal(false).describe('False: the payment was not used and is valid for another request'),
  note: z.string().describe('The same as text'),
  payment: z.null().describe('Null: nothing was paid'),
  receipt: z.null().describe('Null: an unpaid answer has no receipt'),
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
