import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { PAID_RESOURCES } from '../../../src/commerce/offerings.ts';
import { createPaymentRequired } from '../../../src/commerce/x402/terms.ts';
import { quoteResource } from '../../support/commerce/quote.ts';

const ADDRESS = '0x00000000000000000000000000000000000000cc';
const ID = 'a-payment-of-the-official-client';

interface Extension {
  appendPaymentIdentifierToExtensions(extensions: Record<string, unknown>, id: string): Record<string, unknown>;
}

it('the official extension sets its identifier where the quote declares one', async () => {
  const domain = { name: 'USD Coin', version: '2' };
  const merchant = { chainId: 8453, asset: ADDRESS, payee: ADDRESS, domain, realMoney: false, publicUrl: 'https://oracle.test' } as const;
  const resource = { url: 'https://oracle.test/oracle', description: 'Signal', mimeType: 'application/json' };
  const { extensions } = createPaymentRequired(await quoteResource(merchant, PAID_RESOURCES[0], resource), 'payment_required');
  // Not imported, because the type checker runs without the packages of this folder.
  const { appendPaymentIdentifierToExtensions } = createRequire(import.meta.url)('@x402/extensions/payment-identifier') as Extension;
  expect(appendPaymentIdentifierToExtensions(extensions, ID)).toMatchObject({ 'payment-identifier': { info: { id: ID } } });
});
