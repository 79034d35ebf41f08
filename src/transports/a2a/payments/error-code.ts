/** Why payments fail, in the words of the x402 extension; the first that fits. */
const ERROR_CODE_PATTERNS: readonly (readonly [reason: RegExp, code: string])[] = [
  [/insufficient|balance/, 'INSUFFICIENT_FUNDS'],
  [/signature/, 'INVALID_SIGNATURE'],
  [/expired|expires|valid_before/, 'EXPIRED_PAYMENT'],
  [/nonce|payment_used|CONFLICT/, 'DUPLICATE_NONCE'],
  [/network/, 'NETWORK_MISMATCH'],
  [/amount|value/, 'INVALID_AMOUNT'],
];

/** @param reason as the facilitator or this service says it; what the extension has no word for is SETTLEMENT_FAILED */
export function toExtensionErrorCode(reason: string): string {
  return ERROR_CODE_PATTERNS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'SETTLEMENT_FAILED';
}
