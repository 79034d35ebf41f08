import {
  createPaymentRequired,
  type PaymentQuote,
  type PaymentRequired,
  PaymentRequiredError,
} from '../../../commerce/x402/protocol/payment-quote.ts';
import { OracleError } from '../../../platform/errors.ts';

/** A call that the caller's tier does not include, and that can be paid for instead. */
export class PayableError extends OracleError {
  readonly quote: PaymentQuote;

  /** @param rejection of the tier, whose code and words stay */
  constructor(rejection: OracleError, quote: PaymentQuote) {
    const { code, message, field, suggestedAction, details } = rejection;
    super(code, message, { field, suggestedAction, details, cause: rejection });
    this.quote = quote;
  }
}

/** What has to be paid, of an error of a call that can be paid for; undefined of any other. */
export function toPaymentRequired(error: unknown): PaymentRequired | undefined {
  if (error instanceof PaymentRequiredError) return createPaymentRequired(error.quote, error.x402Code);
  return error instanceof PayableError ? createPaymentRequired(error.quote, 'payment_required') : undefined;
}
