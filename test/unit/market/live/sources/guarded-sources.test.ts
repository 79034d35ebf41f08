import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createProviders, parseProviderUrls } from '../../../../../src/market/live/providers.ts';
import { openSimulatedFeed } from '../../../../../src/market/simulated.ts';
import { kraken } from '../../../../../src/market/sources/kraken.ts';
import { okxFunding } from '../../../../../src/market/sources/okx.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../../../support/provider-data/venues.ts';
import { NOW_MS, TODAY } from './test-providers.ts';

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
