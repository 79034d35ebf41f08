import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { findOffering, formatSingleAnswerHint, type MerchantConfig, OFFERINGS } from '../../../../src/commerce/offerings.ts';
import { toPaymentResponse } from '../../../../src/commerce/receipt-signer.ts';
import { createPaymentRejection } from '../../../../src/commerce/x402/terms.ts';
import { quoteResource } from '../../../support/commerce/quote.ts';

const PAYER = '0xeaf557e4082694da2f3f61ddccee3abe59d9aaa0';
const ASSET = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const PAYEE = '0x00000000000000000000000000000000000000aa';
const merchant: MerchantConfig = {
  ...{ chainId: 8453, asset: ASSET, payee: PAYEE, publicUrl: 'https://oracle.example.org', realMoney: true },
  domain: { name: 'USD Coin', version: '2' },
};
const quote = await quoteResource(merchant, findOffering('x402', 'x402_signal')!, {
  url: 'https://a.example',
  description: '',
  mimeType: '',
});

/** Reasons as the facilitator's library and this service give them, and what each advice has to name. */
const REASONS = [
  ['invalid_exact_evm_insufficient_balance', [getAddress(PAYER), '0.001 USD (1000 units)', getAddress(ASSET), 'another wallet']],
  ['insufficient_funds', [getAddress(PAYER), '0.001 USD']],
  ['invalid_exact_evm_nonce_already_used', ['new authorization', 'nonce']],
  ['authorization_spent', ['new authorization', 'nonce']],
  ['invalid_exact_evm_signature', ['"USD Coin"', 'version "2"', 'chainId 8453', getAddress(ASSET), getAddress(PAYER)]],
  ['invalid_exact_evm_failed_to_parse_signature', ['"USD Coin"', 'version "2"']],
  ['invalid_exact_evm_token_name_mismatch', ['"USD Coin"']],
  ['invalid_exact_evm_payload_authorization_valid_before', ['validBefore', '300 seconds']],
  ['expired', ['expired', 'validBefore', '300 seconds']],
  ['invalid_exact_evm_payload_authorization_valid_after', ['validAfter']],
  ['not_yet_valid', ['validAfter']],
  ['valid_too_long', ['validBefore', '300 seconds']],
  ['invalid_network', ['eip155:8453', 'base']],
  ['invalid_asset', [getAddress(ASSET)]],
  ['invalid_exact_evm_recipient_mismatch', [getAddress(PAYEE)]],
  ['invalid_exact_evm_payload_authorization_value_mismatch', ['0.001 USD (1000 units)']],
  ['amount_mismatch', ['0.001 USD (1000 units)']],
  ['unsupported_scheme', ['"exact"']],
  ['invalid_payment_requirements', ['`accepts`', 'unchanged']],
  ['expires_too_soon', ['validBefore', '300 seconds']],
  ['settlement_too_costly', ['gas', 'wallet of a key']],
  ['eip6492_factory_not_allowed', ['not deployed', 'Deploy']],
  ['eip6492_factory_data_too_large', ['2048 bytes', 'Deploy']],
  ['eip6492_deployment_too_costly', ['gas', 'Deploy', 'another wallet']],
  ['eip6492_signature_invalid', [getAddress(PAYER), 'factory call', '"USD Coin"', 'chainId 8453']],
  ['eip6492_unsupported_by_facilitator', ['not deployed', 'Deploy']],
] as const;

describe('rejected payment', () => {
  it.each(REASONS)('names the specific fix for %s', (reason, named) => {
    const { message, suggestedAction, reason: kept, field } = createPaymentRejection(quote, reason, { payer: PAYER });
    expect([kept, field]).toEqual([reason, 'payment']);
    for (const one of named) expect(`${message} ${suggestedAction}`).toContain(one);
    expect(message).not.toContain(reason.includes('_') ? reason : '_');
    expect(message).toMatch(/^[A-Z0]/);
  });

  it('explains how to pay for an unknown reason', () => {
    const { message, suggestedAction } = createPaymentRejection(quote, 'out_of_gas', { payer: PAYER, unsettledOf: PAYER });
    expect(message).toBe('The payment could not be settled');
    expect(suggestedAction).toMatch(/^Sign an EIP-3009 authorization of 1000 units \(0\.001 USD\)/);
    expect(createPaymentRejection(quote, 'unheard_of').message).toBe('The payment is invalid');
  });
});

describe('formatSingleAnswerHint', () => {
  it('names price and path of an x402 offering, and is empty for any other', () => {
    for (const offering of OFFERINGS) {
      const said = formatSingleAnswerHint(offering);
      if (offering.channel === 'x402')
        expect(said).toMatch(/^Or pay 0\.\d+ USD for a single answer, .*GET \/oracle(\/premium)?\?horizon=7d\.$/);
      else expect(said).toBe('');
    }
    expect([formatSingleAnswerHint(null), formatSingleAnswerHint(undefined)]).toEqual(['', '']);
  });
});

it('toPaymentResponse returns checksummed addresses, the amount in both forms and the offering id', () => {
  const txHash = `0x${'ab'.repeat(32)}` as const;
  const settledAt = new Date('2026-01-02T03:04:05Z');
  const arrived = { channel: 'purchase', offering: 'svc_alpha_brief', resource: 'purchase:svc_alpha_brief', ref: 'beta' } as const;
  expect(
    toPaymentResponse({
      ...arrived,
      payer: PAYER,
      payee: PAYEE,
      asset: ASSET,
      chain: 'eip155:8453',
      amountMicros: 1_500_000n,
      txHash,
      settledAt,
    }),
  ).toEqual({
    ...{ offering: 'purchase:svc_alpha_brief', resource: arrived.resource, ref: 'beta', chain: 'eip155:8453', txHash },
    ...{ payer: getAddress(PAYER), payee: getAddress(PAYEE), asset: getAddress(ASSET) },
    ...{ amount: '1500000', usd: '1.50', settledAt: '2026-01-02T03:04:05.000Z' },
    feedbackPath: `/api/svc/agent/feedback/payments/${txHash}/${PAYER}`,
  });
});
