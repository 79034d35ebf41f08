import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../src/forecast/day.ts';
import type { SeriesId } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { binanceTakerBuyFraction } from '../../../../src/market/sources/binance.ts';
import { binanceFunding, binanceOpenInterest } from '../../../../src/market/sources/binance-futures.ts';
import { bybitBasis, bybitFunding, bybitOpenInterest } from '../../../../src/market/sources/bybit.ts';
import { deribitBasis, deribitDvol } from '../../../../src/market/sources/deribit.ts';
import { okxFunding, okxOpenInterest } from '../../../../src/market/sources/okx.ts';
import type { SeriesSource } from '../../../../src/market/sources/source.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../../support/provider-data/venues.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createAnsweringProvider, createUnguardedProvider, NOW_MS, TODAY } from './test-providers.ts';

const range = { from: TODAY - 5, to: TODAY };
const list = (...rows: unknown[]) => ({ retCode: 0, retMsg: 'OK', result: { list: rows }, time: NOW_MS });

describe.each([
  ['bybitFunding', bybitFunding],
  ['bybitOpenInterest', bybitOpenInterest],
  ['bybitBasis', bybitBasis],
])('%s', (_, source) => {
  it('throws FEED_UNAVAILABLE with the rejection code', async () => {
    const refused = createAnsweringProvider('bybit', { retCode: 10006, retMsg: 'Too many visits!', result: {}, time: NOW_MS });
    await expect(source.fetch(refused, range)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'Bybit: rejected with code 10006',
    });
  });

  it.each([{}, { retCode: 0 }, { retCode: 0, result: { rows: [] }, time: NOW_MS }])('throws FEED_INVALID for %j', async (body) => {
    await expect(source.fetch(createAnsweringProvider('bybit', body), range)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining('Bybit: '),
    });
  });
});

describe('bybitFunding', () => {
  const funding = (hours: number, fundingRate: unknown) => ({
    ...{ symbol: 'BTCUSDT', fundingRate },
    fundingRateTimestamp: String(toInstantMs(TODAY - 1, hours)),
  });

  it('returns the mean of a day', async () => {
    const provider = createAnsweringProvider('bybit', list(funding(16, '0.0003'), funding(8, '-0.0001'), funding(0, '0.0001')));
    const values = await bybitFunding.fetch(provider, range);
    expect(values).toEqual([{ day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: toInstantMs(TODAY - 1, 16) }]);
    expect(provider.asked[0].query).toMatchObject({ startTime: toInstantMs(TODAY - 5), endTime: toInstantMs(TODAY + 1) - 1 });
  });

  it.each(['', '1%', 0.0001, null])('throws FEED_INVALID for the rate %j', async (rate) => {
    await expect(bybitFunding.fetch(createAnsweringProvider('bybit', list(funding(0, rate))), range)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field: 'list.0.fundingRate',
    });
  });
});

describe('bybitOpenInterest', () => {
  const count = (day: number, hours: number, openInterest: string) => ({ openInterest, timestamp: String(toInstantMs(day, hours)) });
  const candle = (day: number, hours: number, open: string) => [String(toInstantMs(day, hours)), open, '1', '1', '1', '1', '1'];

  it('returns the last value of each day at the price of its instant', async () => {
    const counts = list(count(TODAY, 12, '5'), count(TODAY - 1, 20, '4'), count(TODAY - 1, 16, '3'));
    const candles = list(candle(TODAY, 12, '110'), candle(TODAY - 1, 20, '100'), candle(TODAY - 1, 16, '90'));
    const values = await bybitOpenInterest.fetch(createAnsweringProvider('bybit', counts, candles), range);
    expect(values.toSorted((a, b) => a.day - b.day)).toEqual([
      { day: TODAY - 1, value: 400, providerAtMs: toInstantMs(TODAY - 1, 20) },
      { day: TODAY, value: 550, providerAtMs: toInstantMs(TODAY, 12) },
    ]);
  });

  it('excludes a value without a price', async () => {
    const counts = list(count(TODAY - 1, 20, '4'), count(TODAY - 1, 16, '3'));
    const values = await bybitOpenInterest.fetch(createAnsweringProvider('bybit', counts, list(candle(TODAY - 1, 16, '90'))), range);
    expect(values.map(({ value }) => value)).toEqual([270]);
  });

  it.each([
    ['a count that is no number', list(count(TODAY - 1, 20, '?')), list(), 'list.0.openInterest'],
    ['a count of nothing', list(count(TODAY - 1, 20, '0')), list(), 'list.0.openInterest'],
    ['a price that is no number', list(count(TODAY - 1, 20, '4')), list(candle(TODAY - 1, 20, '')), 'list.0.1'],
    ['a date after tomorrow', list(count(TODAY + 2, 0, '4')), list(candle(TODAY + 2, 0, '100')), 'date'],
  ])('throws FEED_INVALID for %s', async (_, counts, candles, field) => {
    await expect(bybitOpenInterest.fetch(createAnsweringProvider('bybit', counts, candles), range)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
    });
  });
});

describe('bybitBasis', () => {
  const fetchFrom = (...tickers: unknown[]) => bybitBasis.fetch(createAnsweringProvider('bybit', list(...tickers)), range);

  it('returns mark over index minus one', async () => {
    expect(await fetchFrom({ markPrice: '99', indexPrice: '100' })).toEqual([
      { day: TODAY, value: expect.closeTo(-0.01, 12), providerAtMs: NOW_MS },
    ]);
  });

  it.each([
    [{ markPrice: '', indexPrice: '100' }, 'list.0.markPrice'],
    [{ markPrice: '99', indexPrice: '0' }, 'list.0.indexPrice'],
    [{ markPrice: '99' }, 'list.0.indexPrice'],
  ])('throws FEED_INVALID for %j', async (ticker, field) => {
    await expect(fetchFrom(ticker)).rejects.toMatchObject({ code: 'FEED_INVALID', field });
  });
});

describeWithShared('Bybit as recorded', () => {
  const sample = (name: string) => JSON.parse(readFileSync(sharedPath('data/api-samples', name), 'utf8'));

  it('recorded fundings are parsed, without a complete day', async () => {
    const day = Math.floor(Number(sample('bybit_funding_history.json').result.list[0].fundingRateTimestamp) / 86_400_000);
    expect(
      await bybitFunding.fetch(createAnsweringProvider('bybit', sample('bybit_funding_history.json')), { from: day, to: day }),
    ).toEqual([]);
  });

  it('recorded open interest is parsed', async () => {
    const body = sample('bybit_open_interest.json');
    const [newest] = body.result.list;
    const day = Math.floor(Number(newest.timestamp) / 86_400_000);
    const candles = list([newest.timestamp, '2', '2', '2', '2', '1', '2']);
    const values = await bybitOpenInterest.fetch(createAnsweringProvider('bybit', body, candles), { from: day, to: day });
    expect(values).toEqual([{ day, value: 2 * Number(newest.openInterest), providerAtMs: Number(newest.timestamp) }]);
  });
});
describe('derivatives', () => {
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
});
