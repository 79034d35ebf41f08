import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DAY_MS, toInstantMs } from '../../../../src/forecast/day.ts';
import { binanceFunding, binanceOpenInterest } from '../../../../src/market/sources/binance-futures.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 5, to: TODAY };

describe('binanceFunding', () => {
  // Fundings come up to some milliseconds late.
  const funding = (day: number, hours: number, fundingRate: unknown) => ({ fundingTime: toInstantMs(day, hours) + 3, fundingRate });
  const fetchFrom = (...rows: unknown[]) => binanceFunding.fetch(createAnsweringProvider('binance-futures', rows), range);

  it('returns the mean of a day', async () => {
    const values = await fetchFrom(
      funding(TODAY - 1, 0, '0.0001'),
      funding(TODAY - 1, 8, '-0.0001'),
      funding(TODAY - 1, 16, '0.0003'),
      funding(TODAY, 0, '0.0009'),
    );
    expect(values).toEqual([{ day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: toInstantMs(TODAY - 1, 16) + 3 }]);
  });

  it.each([
    ['a rate that is no number', funding(TODAY - 1, 0, 'none'), '0.fundingRate'],
    ['an empty rate', funding(TODAY - 1, 0, ''), '0.fundingRate'],
    ['a missing time', { fundingRate: '0.0001' }, '0.fundingTime'],
    ['a date after tomorrow', funding(TODAY + 2, 0, '0.0001'), 'date'],
  ])('throws FEED_INVALID for %s', async (_, row, field) => {
    await expect(fetchFrom(row)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining('Binance Futures: '),
    });
  });
});

describe('binanceOpenInterest', () => {
  const count = (day: number, hours: number, sumOpenInterestValue: unknown) => ({
    sumOpenInterestValue,
    timestamp: toInstantMs(day, hours),
  });
  const fetchFrom = (...rows: unknown[]) => binanceOpenInterest.fetch(createAnsweringProvider('binance-futures', rows), range);

  it('returns the last value of each day', async () => {
    expect(await fetchFrom(count(TODAY - 1, 16, '300'), count(TODAY - 1, 20, '400.5'), count(TODAY, 0, '500'))).toEqual([
      { day: TODAY - 1, value: 400.5, providerAtMs: toInstantMs(TODAY - 1, 20) },
      { day: TODAY, value: 500, providerAtMs: toInstantMs(TODAY, 0) },
    ]);
  });

  it.each([
    ['a value that is no number', count(TODAY - 1, 0, '4,0'), '0.sumOpenInterestValue'],
    ['nothing open', count(TODAY - 1, 0, '0'), '0.sumOpenInterestValue'],
    ['a time in words', { sumOpenInterestValue: '400', timestamp: 'now' }, '0.timestamp'],
    ['a date after tomorrow', count(TODAY + 2, 0, '400'), 'date'],
  ])('throws FEED_INVALID for %s', async (_, row, field) => {
    await expect(fetchFrom(row)).rejects.toMatchObject({ code: 'FEED_INVALID', field });
  });
});

describeWithShared('Binance Futures as recorded', () => {
  const sample = (name: string) => JSON.parse(readFileSync(sharedPath('data/api-samples', name), 'utf8'));

  it('recorded fundings make a day with a third one', async () => {
    const rows = sample('binance_funding_rate.json');
    const day = Math.floor(rows[0].fundingTime / DAY_MS);
    const third = { ...rows[1], fundingTime: rows[0].fundingTime - 8 * 3_600_000 };
    const mean = (Number(rows[0].fundingRate) + 2 * Number(rows[1].fundingRate)) / 3;
    const source = binanceFunding;
    const values = await source.fetch(createAnsweringProvider('binance-futures', [...rows, third]), { from: day, to: day });
    expect(values.map(({ value }) => value)).toEqual([expect.closeTo(mean, 12)]);
  });

  it('recorded open interest is parsed', async () => {
    const [row] = sample('binance_open_interest_hist.json');
    const day = Math.floor(Number(row.timestamp) / DAY_MS);
    const values = await binanceOpenInterest.fetch(createAnsweringProvider('binance-futures', [row]), { from: day, to: day });
    expect(values).toEqual([{ day, value: Number(row.sumOpenInterestValue), providerAtMs: Number(row.timestamp) }]);
  });
});
