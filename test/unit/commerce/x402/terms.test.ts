import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { SKILLS } from '../../../../skills/index.ts';
import { PAID_RESOURCES } from '../../../../src/commerce/offerings.ts';
import type { BazaarDeclaration } from '../../../../src/commerce/x402/bazaar.ts';
import { createPaymentRequired, toX402ErrorCode, X402_ERROR_CODES } from '../../../../src/commerce/x402/terms.ts';
import { encodePaymentHeader } from '../../../../src/http/problems.ts';
import { PAID_PREMIUM_SIGNAL, PAID_SIGNAL } from '../../../../src/http/routes/paid.ts';
import { listPaidQuotes, plainQuote } from '../../../support/commerce/paid-quotes.ts';

/** Clients repeat all extensions in the header of their payment. Node accepts 16 kB of headers in all, in both directions. */
const MAX_HEADER_CHARS = 8_000;
const MAX_DECLARATION_CHARS = 3_000;
const MAX_DESCRIPTION_CHARS = 500;

const PREDICT = SKILLS.find(({ id }) => id === 'predict_btc_direction')!;

const ANSWERS = {
  buySignal: PAID_SIGNAL,
  buyPremiumSignal: PAID_PREMIUM_SIGNAL,
  'POST predict_btc_direction': PREDICT.output,
  predict_btc_direction: PREDICT.output,
} as const;

const quotes = await listPaidQuotes();
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const bazaarOf = (extensions: Record<string, unknown>) => extensions.bazaar as BazaarDeclaration;

describe('the Bazaar declaration of a 402', () => {
  it('covers every paid operation and every paid tool', () => {
    expect(quotes.map(({ name }) => name).sort()).toEqual(Object.keys(ANSWERS).sort());
    expect(quotes.filter(({ transport }) => transport === 'http')).toHaveLength(PAID_RESOURCES.length + 1);
  });

  it.each(quotes)('of $name validates its info by its schema', ({ required }) => {
    const { info, schema } = bazaarOf(required.extensions);
    const validate = ajv.compile(schema);
    expect(validate(info), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...info, input: { ...info.input, type: 'other' } })).toBe(false);
  });

  it.each(quotes)('of $name has a sample of its own answer', ({ name, required }) => {
    const { output } = bazaarOf(required.extensions).info;
    const example = (output.example.output ?? output.example) as Record<string, unknown>;
    const answer = ANSWERS[name as keyof typeof ANSWERS];
    expect(Object.keys(example)).toEqual(expect.arrayContaining(['signal', 'direction', 'confidence', 'horizon']));
    expect(Object.keys(answer.shape)).toEqual(expect.arrayContaining(Object.keys(example)));
    expect(answer.partial().safeParse(example).error).toBeUndefined();
  });

  it.each(quotes)('of $name is the same for each request', async ({ name, required }) => {
    const again = (await listPaidQuotes()).find((one) => one.name === name);
    expect(again?.required.extensions.bazaar).toEqual(required.extensions.bazaar);
  });

  it.each(quotes)('of $name leaves the header short, and the description within the limit', ({ required }) => {
    expect(JSON.stringify(required.extensions.bazaar).length).toBeLessThan(MAX_DECLARATION_CHARS);
    expect(encodePaymentHeader(required).length).toBeLessThan(MAX_HEADER_CHARS);
    expect(required.resource.description.length).toBeLessThanOrEqual(MAX_DESCRIPTION_CHARS);
  });

  it('is left out where no facilitator lists the resource', async () => {
    expect(Object.keys(createPaymentRequired(await plainQuote(), 'payment_required').extensions)).toEqual(['payment-identifier']);
  });
});
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
