import { describe, expect, it } from 'vitest';
import { PROVIDER_IDS, PROVIDERS } from '../../../../../src/market/live/provider.ts';
import { getBaseUrl, parseProviderUrls } from '../../../../../src/market/live/providers.ts';

describe('parseProviderUrls', () => {
  it.each(['', '  ', ' , '])('keeps all base URLs for %j', (text) => {
    const urls = parseProviderUrls(text);
    for (const id of PROVIDER_IDS) expect(getBaseUrl(urls, id)).toBe(PROVIDERS[id].baseUrl);
  });

  it('overrides the named providers only', () => {
    const urls = parseProviderUrls('kraken=http://127.0.0.1:9000/k/, fred = https://mirror.example');
    expect(getBaseUrl(urls, 'kraken')).toBe('http://127.0.0.1:9000/k');
    expect(getBaseUrl(urls, 'fred')).toBe('https://mirror.example');
    expect(getBaseUrl(urls, 'okx')).toBe(PROVIDERS.okx.baseUrl);
  });

  it('applies the wildcard to all other providers, at any position', () => {
    const urls = parseProviderUrls('*=https://proxy.example/{provider}/v1,kraken=https://k.example');
    expect(getBaseUrl(urls, 'kraken')).toBe('https://k.example');
    expect(getBaseUrl(urls, 'alternative-me')).toBe('https://proxy.example/alternative-me/v1');
  });

  it.each([
    ['krakken=https://k.example', '"krakken" is not a provider'],
    ['toString=https://k.example', '"toString" is not a provider'],
    ['kraken', '"kraken" is not of the form provider=url'],
    ['kraken=', '"kraken=" is not of the form provider=url'],
    ['fred=https://f.example,kraken=k.example', '"kraken=k.example" has no http or https URL'],
    ['kraken=ftp://k.example', '"kraken=ftp://k.example" has no http or https URL'],
    ['kraken=https://user:pass@k.example', 'the URL of "kraken" may have a host and a path only'],
    ['kraken=https://k.example/?a=b', 'the URL of "kraken" may have a host and a path only'],
    ['*=https://proxy.example', '"*=https://proxy.example": {provider} belongs to *'],
    ['kraken=https://proxy.example/{provider}', '"kraken=https://proxy.example/{provider}": {provider} belongs to *'],
  ])('rejects %s', (text, problem) => {
    expect(() => parseProviderUrls(text)).toThrowError(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        field: 'PROVIDER_URLS',
        message: expect.stringContaining(problem),
        suggestedAction: expect.stringContaining('coinbase, kraken, bitstamp'),
      }),
    );
  });
});
