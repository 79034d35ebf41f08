import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../../src/forecast/day.ts';
import { PROVIDER_IDS, PROVIDERS } from '../../../../src/market/live/provider.ts';
import {
  computeBackoffMs,
  createProviders,
  createThrottle,
  getBaseUrl,
  PROVIDER_TIMING,
  parseProviderUrls,
} from '../../../../src/market/live/providers.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { kraken } from '../../../../src/market/sources/kraken.ts';
import { okxFunding } from '../../../../src/market/sources/okx.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../../support/provider-data/venues.ts';
import { NOW_MS, TODAY } from '../sources/test-providers.ts';

describe('computeBackoffMs', () => {
  it.each([
    [1, 500, 2_000],
    [2, 500, 8_000],
    [9, 500, 8_000],
  ])('retry %d waits %d to %d ms', (retry, shortest, longest) => {
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0)).toBe(shortest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 1)).toBe(longest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0.5)).toBe((shortest + longest) / 2);
  });
});
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
describe('throttle', () => {
  it('grants the first slot immediately and rejects queued callers with the abort reason', async () => {
    const controller = new AbortController();
    const pace = createThrottle(HOUR_MS, controller.signal);
    await pace.acquire();
    const waiting = Promise.allSettled([pace.acquire(), pace.acquire()]);
    const reason = new Error('stopping');
    controller.abort(reason);
    expect(await waiting).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
  });

  it('spaces slots and keeps their order', async () => {
    const pace = createThrottle(15, new AbortController().signal);
    const startedAt = performance.now();
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((caller) => pace.acquire().then(() => order.push(caller))));
    expect(order).toEqual([1, 2, 3]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(30);
  });

  it('a pause delays callers that are already queued', async () => {
    // Longer than this process may wait for a core before it asks for the pause.
    const pace = createThrottle(200, new AbortController().signal);
    const startedAt = performance.now();
    await pace.acquire();
    const second = pace.acquire();
    pace.pause(300);
    await second;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300);
  });

  it('a shorter pause does not shorten a longer one', async () => {
    const pace = createThrottle(60, new AbortController().signal);
    const startedAt = performance.now();
    await pace.acquire();
    pace.pause(1);
    await pace.acquire();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(60);
  });
});

const range = { from: TODAY - 5, to: TODAY - 1 };
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe.each([
  ['a venue', 'kraken', kraken.fetchCandles],
  ['a series', 'okx', okxFunding.fetch],
] as const)('%s behind the guard of its provider', (_, id, fetchFrom) => {
  const market = openSimulatedFeed({ seed: 2 });
  let host: ProviderHost;
  beforeAll(async () => {
    host = await startProviderHost(answersOf(market, [venuesAnswers, derivativesAnswers]), () => NOW_MS);
  });
  afterEach(() => host.heal(id));
  afterAll(() => host.close());

  function guarded() {
    const timing = { backoffMinMs: 1, backoffMaxMs: 2, minIntervalMs: 0 };
    return createProviders({ urls: parseProviderUrls(host.providerUrls), log, now: () => NOW_MS, timing })[id];
  }

  it('makes one call', async () => {
    const provider = guarded();
    expect(await fetchFrom(provider, range)).toHaveLength(5);
    expect(provider.health()).toMatchObject({ calls: 1, failures: 0, lastOkAtMs: NOW_MS, clockSkewMs: 0 });
  });

  it.each([
    ['server-error', 3, 'answered 503'],
    ['down', 3, 'cannot be reached'],
    ['unavailable-for-legal-reasons', 1, 'answered 451'],
  ] as const)('retries according to the fault %s', async (fault, attempts, message) => {
    const provider = guarded();
    const before = host.requests(id).length;
    host.fault(id, fault);
    await expect(fetchFrom(provider, range)).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE', message: expect.stringContaining(message) });
    expect(host.requests(id).length - before).toBe(attempts);
  });

  it.each(['changed-shape', 'empty', 'truncated'] as const)('records a failure for a response under the fault %s', async (fault) => {
    const provider = guarded();
    const before = host.requests(id).length;
    host.fault(id, fault);
    await expect(fetchFrom(provider, range)).rejects.toThrow(provider.title);
    expect(host.requests(id).length - before).toBe(1);
    expect(provider.health()).toMatchObject({ calls: 1, failures: 1, lastError: expect.stringContaining(provider.title) });
  });
});
