import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SeriesId } from '../../../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../../../src/market/simulated.ts';
import { binanceTakerBuyFraction } from '../../../../../../src/market/sources/binance.ts';
import { binanceFunding, binanceOpenInterest } from '../../../../../../src/market/sources/binance-futures.ts';
import { bybitBasis, bybitFunding, bybitOpenInterest } from '../../../../../../src/market/sources/bybit.ts';
import { deribitBasis, deribitDvol } from '../../../../../../src/market/sources/deribit.ts';
import { okxFunding, okxOpenInterest } from '../../../../../../src/market/sources/okx.ts';
import type { SeriesSource } from '../../../../../../src/market/sources/source.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../../../../support/provider-data/venues.ts';
import { createUnguardedProvider, NOW_MS, TODAY } from '../test-providers.ts';

const market = openSimulatedFeed({ seed: 2 });
let host: ProviderHost;

beforeAll(async () => {
  host = await startProviderHost(answersOf(market, [venuesAnswers, derivativesAnswers]), () => NOW_MS);
});
afterAll(() => host.close());

const DAILY: [name: string, series: SeriesId, source: SeriesSource][] = [
  ['binanceTakerBuyFraction', 'takerBuyFraction', binanceTakerBuyFraction],
  ['okxFunding', 'fundingRate', okxFunding],
  ['bybitFunding', 'fundingRate', bybitFunding],
  ['binanceFunding', 'fundingRate', binanceFunding],
  ['okxOpenInterest', 'openInterest', okxOpenInterest],
  ['bybitOpenInterest', 'openInterest', bybitOpenInterest],
  ['binanceOpenInterest', 'openInterest', binanceOpenInterest],
  ['deribitDvol', 'dvol', deribitDvol],
];

describe.each(DAILY)('%s against its provider', (_name, series, source) => {
  const reach = 'days' in source.history ? source.history.days : 2000;
  const days = Math.min(source.pageDays, reach);
  const range = { from: TODAY - days, to: TODAY - 1 };
  afterEach(() => host.heal(source.provider));

  it('returns the values of a whole page', async () => {
    const known = await market.observations(series, NOW_MS);
    const values = await source.fetch(createUnguardedProvider(source.provider, host.url), range);
    const expected = Array.from(known.days.slice(-days), (day, index) => [day, known.values.at(index - days)!] as const);
    const byDay = values.toSorted((a, b) => a.day - b.day);
    expect(byDay.map(({ day }) => day)).toEqual(expected.map(([day]) => day));
    for (const [index, [, value]] of expected.entries()) expect(byDay[index].value / value).toBeCloseTo(1, 6);
  });

  it("returns the provider's time of each value", async () => {
    const values = await source.fetch(createUnguardedProvider(source.provider, host.url), { from: TODAY - 3, to: TODAY });
    expect(values.length).toBeGreaterThanOrEqual(3);
    for (const { day, providerAtMs } of values) expect(Math.floor(providerAtMs! / 86_400_000)).toBe(day);
  });

  it.each(['changed-shape', 'truncated'] as const)('throws FEED_INVALID naming the provider under the fault %s', async (fault) => {
    host.fault(source.provider, fault);
    const provider = createUnguardedProvider(source.provider, host.url);
    await expect(source.fetch(provider, range)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining(provider.title),
      field: expect.any(String),
    });
  });

  it.each(['empty', 'stale'] as const)('throws FEED_UNAVAILABLE under the fault %s', async (fault) => {
    host.fault(source.provider, fault);
    const recent = { from: TODAY - 5, to: TODAY };
    await expect(source.fetch(createUnguardedProvider(source.provider, host.url), recent)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
    });
  });
});

describe.each([
  ['deribitBasis', deribitBasis],
  ['bybitBasis', bybitBasis],
])('%s against its provider', (_name, source) => {
  afterEach(() => host.heal(source.provider));

  it('returns the current basis', async () => {
    const basis = (await market.observations('perpBasis', NOW_MS)).values.at(-1)!;
    const values = await source.fetch(createUnguardedProvider(source.provider, host.url), { from: TODAY - 10, to: TODAY });
    expect(values).toEqual([{ day: TODAY, value: expect.closeTo(basis, 6), providerAtMs: NOW_MS }]);
  });

  it('returns nothing for other days', async () => {
    expect(await source.fetch(createUnguardedProvider(source.provider, host.url), { from: TODAY - 10, to: TODAY - 1 })).toEqual([]);
  });

  it('rejects stale prices', async () => {
    host.fault(source.provider, 'stale');
    await expect(source.fetch(createUnguardedProvider(source.provider, host.url), { from: TODAY, to: TODAY })).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: expect.stringContaining('2026-02-08T15:30:00'),
    });
  });

  it.each(['changed-shape', 'truncated', 'empty'] as const)('rejects a response under the fault %s', async (fault) => {
    const whole = source.provider === 'deribit' && fault === 'empty';
    host.fault(source.provider, fault);
    const fetched = source.fetch(createUnguardedProvider(source.provider, host.url), { from: TODAY, to: TODAY });
    // Deribit's answer has no list that could be empty.
    if (whole) await expect(fetched).resolves.toHaveLength(1);
    else await expect(fetched).rejects.toMatchObject({ code: 'FEED_INVALID' });
  });
});
