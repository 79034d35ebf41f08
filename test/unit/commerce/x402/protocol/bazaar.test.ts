import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { SKILLS } from '../../../../../skills/index.ts';
import { PAID_RESOURCES } from '../../../../../src/commerce/offerings.ts';
import { type BazaarDeclaration, createPaymentRequired } from '../../../../../src/commerce/x402/terms.ts';
import { encodePaymentHeader } from '../../../../../src/http/problems.ts';
import { PAID_PREMIUM_SIGNAL, PAID_SIGNAL } from '../../../../../src/http/routes/paid.ts';
import { listPaidQuotes, plainQuote } from '../../../../support/commerce/paid-quotes.ts';

/** Clients repeat all extensions in the header of their payment. Node accepts 16 kB of headers in all, in both directions. */
const MAX_HEADER_CHARS = 8_000;
const MAX_DECLARATION_CHARS = 2_700;
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

  it('is left out where no facilitator lists the resource', () => {
    expect(Object.keys(createPaymentRequired(plainQuote(), 'payment_required').extensions)).toEqual(['payment-identifier']);
  });
});
