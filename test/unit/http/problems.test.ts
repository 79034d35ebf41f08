import type { Request } from 'express';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { renderSkillFile } from '../../../agent-card/skill-documents.ts';
import { PAID_RESOURCES } from '../../../src/commerce/offerings.ts';
import { createPaymentRejection, PaymentRequiredError } from '../../../src/commerce/x402/terms.ts';
import { buildPaymentProblem, encodePaymentHeader, type PaymentHeader, readPaymentProof } from '../../../src/http/problems.ts';
import { PAYMENT_HEADERS } from '../../../src/http/request.ts';
import { quoteResource } from '../../support/commerce/quote.ts';

const ADDRESS = '0x00000000000000000000000000000000000000cc';

function quoteOn(chainId: number) {
  const merchant = {
    chainId,
    asset: ADDRESS,
    payee: ADDRESS,
    domain: { name: 'USD Coin', version: '2' },
    realMoney: false,
    publicUrl: 'https://oracle.example.org',
  } as const;
  const resource = { url: 'https://oracle.example.org/oracle?horizon=7d', description: 'Signal', mimeType: 'application/json' };
  return quoteResource(merchant, PAID_RESOURCES[0]!, resource);
}

const terms = await quoteOn(8453);

const read = (headers: Partial<Record<PaymentHeader, string>>) => readPaymentProof((name) => headers[name as PaymentHeader], terms);

const anyHeader = fc.constantFrom(...PAYMENT_HEADERS);

describe('readPaymentProof', () => {
  it('decodes the payment of any header', () => {
    fc.assert(
      fc.property(anyHeader, fc.dictionary(fc.string(), fc.jsonValue()), (name, payment) => {
        const sent = JSON.parse(JSON.stringify(payment));
        expect(read({ [name]: encodePaymentHeader(sent) })).toEqual({ payment: sent, headers: [name] });
      }),
    );
  });

  it('accepts base64url without padding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const value = Buffer.from(JSON.stringify({ text })).toString('base64url');
        expect(read({ 'X-PAYMENT': value })?.payment).toEqual({ text });
      }),
    );
  });

  it('returns null only without a header', () => {
    expect(read({})).toBeNull();
    expect(read({ 'X-PAYMENT': encodePaymentHeader(null) })?.payment).toEqual({});
  });

  it('rejects a malformed payment with the requirements, without echoing it', () => {
    fc.assert(
      fc.property(anyHeader, fc.string({ unit: 'binary', maxLength: 200 }), (name, text) => {
        try {
          expect(read({ [name]: text })).toMatchObject({ headers: [name] });
        } catch (error) {
          expect(error).toBeInstanceOf(PaymentRequiredError);
          expect((error as PaymentRequiredError).reason).toBe('invalid_payload');
          expect((error as PaymentRequiredError).message.length).toBeLessThan(120);
        }
      }),
    );
  });

  it('accepts a repeated payment, but not two different ones', () => {
    const [one, other] = [encodePaymentHeader({ a: 1 }), encodePaymentHeader({ a: 2 })];
    expect(read({ 'X-PAYMENT': one, 'X-402-Payment': one })).toEqual({ payment: { a: 1 }, headers: ['X-PAYMENT', 'X-402-Payment'] });
    expect(() => read({ 'X-PAYMENT': one, 'X-402-Payment': other })).toThrow(expect.objectContaining({ reason: 'two_payments' }));
    expect(() => read({ 'PAYMENT-SIGNATURE': one, 'X-PAYMENT': one, 'X-402-Payment': other })).toThrow(/two different payments/);
  });
});

describe('the 402', () => {
  const problemOn = async (chainId: number) => {
    const error = new PaymentRequiredError(await quoteOn(chainId), 'payment_required', 'It costs something');
    return buildPaymentProblem(error, { get: () => undefined });
  };

  it('has version 1 requirements where the chain has a name there', async () => {
    expect((await problemOn(8453)).members).toMatchObject({
      accepts: [{ network: 'base' }],
      payment: { network: 'base', chain: 'eip155:8453' },
    });
  });

  it('marks local money as worthless, and links to plain-text instructions', async () => {
    const { realMoney, docs, reference } = (await problemOn(8453)).members.payment;
    expect(realMoney).toBe(false);
    expect(docs).toBe('https://oracle.example.org/SKILL.md#or-pay-for-a-single-answer');
    const heading = '## Or pay for a single answer';
    expect(renderSkillFile({ publicUrl: 'https://oracle.example.org', version: '1.0.0' })).toContain(`\n${heading}\n`);
    expect(reference).toBe('https://oracle.example.org/docs');
  });

  it.each([
    ['PAYMENT-SIGNATURE', { 'PAYMENT-RESPONSE': 'eip155:8453' }],
    ['X-PAYMENT', { 'X-PAYMENT-RESPONSE': 'base' }],
    ['X-402-Payment', { 'PAYMENT-RESPONSE': 'eip155:8453', 'X-PAYMENT-RESPONSE': 'base' }],
  ])('of an unsettled payment in %s has the failed settlement of the protocol', (sent, networks) => {
    const error = createPaymentRejection(terms, 'out_of_gas', { payer: ADDRESS, unsettledOf: ADDRESS });
    const { headers } = buildPaymentProblem(error, { get: ((name: string) => (name === sent ? 'x' : undefined)) as Request['get'] });
    const { 'PAYMENT-REQUIRED': _, ...settlementHeaders } = headers;
    const read = Object.entries(settlementHeaders).map(([name, value]) => [name, JSON.parse(Buffer.from(value, 'base64').toString())]);
    const answer = { success: false, errorReason: 'unexpected_settle_error', transaction: '', payer: getAddress(ADDRESS) };
    expect(Object.fromEntries(read)).toEqual(
      Object.fromEntries(Object.entries(networks).map(([name, network]) => [name, { ...answer, network }])),
    );
  });

  it('of a request without a payment has no settlement', () => {
    const { headers } = buildPaymentProblem(createPaymentRejection(terms, 'expired', { payer: ADDRESS }), {
      get: (() => 'x') as unknown as Request['get'],
    });
    expect(Object.keys(headers)).toEqual(['PAYMENT-REQUIRED']);
  });

  it('has none on other chains, where version 2 still works', async () => {
    const { members, headers } = await problemOn(31337);
    expect(members).toMatchObject({ accepts: [], payment: { network: null, chain: 'eip155:31337' } });
    const required = JSON.parse(Buffer.from(headers['PAYMENT-REQUIRED']!, 'base64').toString());
    expect(required.accepts).toMatchObject([{ network: 'eip155:31337', amount: '1000' }]);
  });
});
