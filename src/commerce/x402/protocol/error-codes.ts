/** Error codes of x402 version 2, section 9. */
export const X402_ERROR_CODES = [
  'insufficient_funds',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'unsupported_scheme',
  'invalid_x402_version',
  'invalid_transaction_state',
  'unexpected_verify_error',
  'unexpected_settle_error',
] as const;

/** `payment_required` for a request without a payment, which the specification has no code for. */
export type X402ErrorCode = (typeof X402_ERROR_CODES)[number] | 'payment_required';

const KNOWN_CODES: ReadonlySet<string> = new Set<X402ErrorCode>([...X402_ERROR_CODES, 'payment_required']);

/** Maps finer reasons of this service and of facilitators; the first match decides. */
const CODE_BY_REASON: readonly (readonly [reason: RegExp, code: X402ErrorCode])[] = [
  [/too_costly|nonce|spent|payment_used|CONFLICT|simulation|transaction_/, 'invalid_transaction_state'],
  [/insufficient_(funds|balance)/, 'insufficient_funds'],
  [/two_payments/, 'invalid_payload'],
  [/valid_before|expired|expires|too_long/, 'invalid_exact_evm_payload_authorization_valid_before'],
  [/valid_after|not_yet/, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/signature|factory|eip6492|domain|token_name|token_version/, 'invalid_exact_evm_payload_signature'],
  [/recipient|payee/, 'invalid_exact_evm_payload_recipient_mismatch'],
  [/amount|value/, 'invalid_exact_evm_payload_authorization_value_mismatch'],
  [/network/, 'invalid_network'],
  [/asset|token/, 'invalid_payment_requirements'],
  [/scheme/, 'unsupported_scheme'],
];

/** @param step of the rejection, decisive for an unknown reason; a facilitator's reason is taken verbatim */
export function toX402ErrorCode(reason: string, step: 'verify' | 'settle'): X402ErrorCode {
  if (KNOWN_CODES.has(reason)) return reason as X402ErrorCode;
  const [, code] = CODE_BY_REASON.find(([pattern]) => pattern.test(reason)) ?? [];
  return code ?? (step === 'verify' ? 'unexpected_verify_error' : 'unexpected_settle_error');
}
