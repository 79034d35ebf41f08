import { describe, expect, it } from 'vitest';
import { toX402ErrorCode, X402_ERROR_CODES } from '../../../../../src/commerce/x402/terms.ts';

describe('toX402ErrorCode', () => {
  it.each([
    ['insufficient_balance', 'insufficient_funds'],
    ['invalid_exact_evm_insufficient_balance', 'insufficient_funds'],
    ['not_yet_valid', 'invalid_exact_evm_payload_authorization_valid_after'],
    ['expired', 'invalid_exact_evm_payload_authorization_valid_before'],
    ['expires_too_soon', 'invalid_exact_evm_payload_authorization_valid_before'],
    ['valid_too_long', 'invalid_exact_evm_payload_authorization_valid_before'],
    ['amount_mismatch', 'invalid_exact_evm_payload_authorization_value_mismatch'],
    ['invalid_exact_evm_payload_authorization_value', 'invalid_exact_evm_payload_authorization_value_mismatch'],
    ['invalid_exact_evm_signature', 'invalid_exact_evm_payload_signature'],
    ['invalid_exact_evm_failed_to_parse_signature', 'invalid_exact_evm_payload_signature'],
    ['invalid_exact_evm_token_name_mismatch', 'invalid_exact_evm_payload_signature'],
    ['eip6492_factory_not_allowed', 'invalid_exact_evm_payload_signature'],
    ['recipient_mismatch', 'invalid_exact_evm_payload_recipient_mismatch'],
    ['invalid_exact_evm_recipient_mismatch', 'invalid_exact_evm_payload_recipient_mismatch'],
    ['invalid_exact_evm_network_mismatch', 'invalid_network'],
    ['two_payments', 'invalid_payload'],
    ['invalid_asset', 'invalid_payment_requirements'],
    ['invalid_exact_evm_scheme', 'unsupported_scheme'],
    ['authorization_spent', 'invalid_transaction_state'],
    ['payment_used', 'invalid_transaction_state'],
    ['invalid_exact_evm_nonce_already_used', 'invalid_transaction_state'],
    ['invalid_exact_evm_transaction_simulation_failed', 'invalid_transaction_state'],
    ['settlement_too_costly', 'invalid_transaction_state'],
    ['payment_required', 'payment_required'],
  ])('of %s is %s', (reason, code) => {
    expect(toX402ErrorCode(reason, 'verify')).toBe(code);
  });

  it('keeps a code of the specification', () => {
    for (const code of X402_ERROR_CODES) expect(toX402ErrorCode(code, 'settle')).toBe(code);
  });

  it('maps an unknown reason by the step of the rejection', () => {
    expect(toX402ErrorCode('out_of_gas', 'verify')).toBe('unexpected_verify_error');
    expect(toX402ErrorCode('settlement_failed', 'settle')).toBe('unexpected_settle_error');
  });
});
