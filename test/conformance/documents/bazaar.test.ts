import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { toPaymentListing } from '../../../src/commerce/x402/terms.ts';
import { listPaidQuotes, PUBLIC_URL } from '../../support/commerce/paid-quotes.ts';

interface Verdict {
  valid: boolean;
  errors?: string[];
}

interface Extension {
  validateDiscoveryExtension(extension: unknown): Verdict;
  validateDiscoveryExtensionSpec(extension: unknown): Verdict;
  extractDiscoveryInfo(payload: object, requirements: object): Record<string, unknown> | null;
}

// Not imported, because the type checker runs without the packages of this folder.
const bazaar = createRequire(import.meta.url)('@x402/extensions/bazaar') as Extension;
const quotes = await listPaidQuotes();

describe('the official Bazaar extension', () => {
  it.each(quotes)('accepts the declaration of $name', ({ required }) => {
    const { bazaar: declared } = required.extensions;
    expect(bazaar.validateDiscoveryExtension(declared)).toEqual({ valid: true });
    expect(bazaar.validateDiscoveryExtensionSpec(declared)).toEqual({ valid: true });
  });

  it.each(quotes)('lists $name from the payment that this service forwards to a facilitator', ({ name, transport, quote }) => {
    const forwarded = { x402Version: 2, accepted: quote.requirements, payload: {}, ...toPaymentListing(quote) };
    const { description, mimeType, serviceName, tags, iconUrl } = quote.resource;
    const path =
      { buySignal: '/oracle', buyPremiumSignal: '/oracle/premium' }[name] ??
      (transport === 'mcp' ? '/mcp' : `/api/svc/skills/${name.slice('POST '.length)}`);
    expect(bazaar.extractDiscoveryInfo(forwarded, quote.requirements)).toMatchObject({
      ...{ resourceUrl: `${PUBLIC_URL}${path}`, description, mimeType, serviceName, tags, iconUrl, x402Version: 2 },
      ...(transport === 'mcp' ? { toolName: name } : { method: name.startsWith('POST ') ? 'POST' : 'GET' }),
    });
  });
});
