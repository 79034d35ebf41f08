import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { binanceTakerBuyFraction } from '../../../../src/market/sources/binance.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 5, to: TODAY };
const kline = (day: number, volume: unknown, bought: unknown) => [
  ...[toInstantMs(day), '100', '110', '90', '105', volume, toInstantMs(day + 1) - 1],
  ...['700', 12, bought, '300', '0'],
];
const fetchFrom = (...klines: unknown[]) => binanceTakerBuyFraction.fetch(createAnsweringProvider('binance', klines), range);

describe('binanceTakerBuyFraction', () => {
  it('returns the taker share of the volume of complete days', async () => {
    expect(await fetchFrom(kline(TODAY - 2, '8', '2'), kline(TODAY - 1, '10', '5.5'), kline(TODAY, '3', '3'))).toEqual([
      { day: TODAY - 2, value: 0.25, providerAtMs: toInstantMs(TODAY - 1) - 1 },
      { day: TODAY - 1, value: 0.55, providerAtMs: toInstantMs(TODAY) - 1 },
    ]);
  });

  it('returns no value of a day without trades', async () => {
    expect(await fetchFrom(kline(TODAY - 2, '0', '0'), kline(TODAY - 1, '10', '5'))).toHaveLength(1);
  });

  it.each([
    ['a volume that is no number', kline(TODAY - 1, 'n/a', '2'), '0.5'],
    ['an empty share', kline(TODAY - 1, '8', ''), '0.9'],
    ['a number instead of text', kline(TODAY - 1, 8, '2'), '0.5'],
    ['a negative volume', kline(TODAY - 1, '-8', '2'), '0.5'],
    ['a row cut short', kline(TODAY - 1, '8', '2').slice(0, 9), '0'],
    ['more bought than traded', kline(TODAY - 1, '8', '9'), '0'],
    ['a candle of an hour', kline(TODAY - 1, '8', '2').with(6, toInstantMs(TODAY - 1, 1) - 1), '0'],
    ['a candle that opens within a day', kline(TODAY - 1, '8', '2').with(0, toInstantMs(TODAY - 1, 1)), '0.0'],
    ['a date after tomorrow', kline(TODAY + 2, '8', '2'), 'date'],
  ])('throws FEED_INVALID for %s', async (_, row, field) => {
    await expect(fetchFrom(row)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining('Binance data mirror'),
      field: expect.stringContaining(field),
    });
  });
});

describeWithShared('klines as recorded', () => {
  it('are parsed from a recorded response', async () => {
    const klines = JSON.parse(readFileSync(sharedPath('data/api-samples/binance_klines.json'), 'utf8'));
    const day = toDay(klines[0][0]);
    // The capture is of a week.
    klines[0][6] = toInstantMs(day + 1) - 1;
    const [{ value }] = await binanceTakerBuyFraction.fetch(createAnsweringProvider('binance', klines), { from: day, to: day });
    expect(value).toBe(Number(klines[0][9]) / Number(klines[0][5]));
  });
});
