import { type PaymentRequired, PaymentRequiredError, paymentRequired, type Terms } from '../commerce/x402/terms.ts';
import { OracleError } from '../errors.ts';

/** A call that the caller's tier does not include, and that can be paid for instead. */
export class PayableError extends OracleError {
  readonly terms: Terms;

  /** @param refusal of the tier, whose code and words stay */
  constructor(refusal: OracleError, terms: Terms) {
    const { code, message, field, suggestedAction, details } = refusal;
    super(code, message, { field, suggestedAction, details, cause: refusal });
    this.terms = terms;
  }
}

/** What has to be paid, of an error of a call that can be paid for; undefined of any other. */
export function requiredBy(error: unknown): PaymentRequired | undefined {
  if (error instanceof PaymentRequiredError) return paymentRequired(error.terms, error.x402Code);
  return error instanceof PayableError ? paymentRequired(error.terms, 'payment_required') : undefined;
}
