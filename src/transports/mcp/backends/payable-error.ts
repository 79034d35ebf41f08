import {
  createPaymentRequired,
  type PaymentQuote,
  type PaymentRequired,
  PaymentRequiredError,
} from '../../../commerce/x402/protocol/payment-quote.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';

/** A call that the caller's tier excludes, but that can be paid for. */
export class PayableError extends OracleError {
  readonly quote: PaymentQuote;

  /** @param rejection error of the tier check, whose code and message are kept */
  constructor(rejection: OracleError, quote: PaymentQuote) {
    const { code, message, field, suggestedAction, details } = rejection;
    super(code, message, { field, suggestedAction, details, cause: rejection });
    this.quote = quote;
  }
}

export function isTierError(error: unknown): error is OracleError {
  return isOracleError(error, 'UNAUTHENTICATED') || isOracleError(error, 'TIER_REQUIRED');
}

/** Undefined for an error of a call that cannot be paid for. */
export function toPaymentRequired(error: unknown): PaymentRequired | undefined {
  if (error instanceof PaymentRequiredError) return createPaymentRequired(error.quote, error.x402Code);
  return error instanceof PayableError ? createPaymentRequired(error.quote, 'payment_required') : undefined;
}
