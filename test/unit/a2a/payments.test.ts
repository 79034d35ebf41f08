import { expect, test } from 'vitest';
import { toExtensionErrorCode } from '../../../src/a2a/executor.ts';

test.each([
  ['invalid_exact_evm_insufficient_balance', 'INSUFFICIENT_FUNDS'],
  ['invalid_exact_evm_signature', 'INVALID_SIGNATURE'],
  ['invalid_exact_evm_failed_to_parse_signature', 'INVALID_SIGNATURE'],
  ['expired', 'EXPIRED_PAYMENT'],
  ['expires_too_soon', 'EXPIRED_PAYMENT'],
  ['invalid_exact_evm_payload_authorization_valid_before', 'EXPIRED_PAYMENT'],
  ['invalid_exact_evm_nonce_already_used', 'DUPLICATE_NONCE'],
  ['payment_used', 'DUPLICATE_NONCE'],
  ['CONFLICT', 'DUPLICATE_NONCE'],
  ['invalid_network', 'NETWORK_MISMATCH'],
  ['invalid_exact_evm_network_mismatch', 'NETWORK_MISMATCH'],
  ['amount_mismatch', 'INVALID_AMOUNT'],
  ['invalid_exact_evm_payload_authorization_value_mismatch', 'INVALID_AMOUNT'],
  ['invalid_exact_evm_payload_authorization_valid_after', 'SETTLEMENT_FAILED'],
  ['recipient_mismatch', 'SETTLEMENT_FAILED'],
  ['something new', 'SETTLEMENT_FAILED'],
])('maps %s to %s', (reason, code) => {
  expect(toExtensionErrorCode(reason)).toBe(code);
});
