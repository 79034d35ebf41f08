import { type ErrorCode, OracleError } from '../../platform/errors.ts';

/**
 * What became of a payment that a client has sent, for counts. `accepted` includes free and repeated answers: a free one says that the
 * forecast is a HOLD. `rejected`: the payment, or its use, was at fault. `waiting`: gas is too expensive, or the answer waits for a step.
 */
export const PAYMENT_OUTCOMES = ['accepted', 'rejected', 'waiting', 'unconfirmed', 'unreachable', 'failed'] as const;

export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

const BY_CODE: Partial<Record<ErrorCode, PaymentOutcome>> = {
  PAYMENT_REQUIRED: 'rejected',
  CONFLICT: 'rejected',
  RATE_LIMITED: 'rejected',
  INPUT_INVALID: 'rejected',
  STEP_WAITING: 'waiting',
  PRICE_UNAVAILABLE: 'waiting',
  TRANSACTION_UNCONFIRMED: 'unconfirmed',
  CHAIN_UNREACHABLE: 'unreachable',
  DATABASE_UNAVAILABLE: 'unreachable',
};

/** Reports the outcome of a sale, and passes its result or error on. */
export async function observeOutcome<T>(sale: Promise<T>, observe: (outcome: PaymentOutcome) => void): Promise<T> {
  try {
    const sold = await sale;
    observe('accepted');
    return sold;
  } catch (error) {
    observe((error instanceof OracleError && BY_CODE[error.code]) || 'failed');
    throw error;
  }
}
