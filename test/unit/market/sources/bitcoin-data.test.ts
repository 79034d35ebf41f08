import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from '../../../../src/market/sources/bitcoin-data.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from '../../../../src/market/sources/bitview.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSample, withArrivalTime } from './recorded-answers.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 2, to: TODAY };
const DAY_ZERO = parseDay('2009-01-01');

describe('Bitview prices', () => {
  const start = TODAY - 2 - DAY_ZERO;
  const body = (data: unknown[], changes: object = {}) => ({
    index: 'day1',
    type: 'Dollars',
    start,
    end: start + data.length,
    data,
    ...changes,
  });
  const fetchFrom = (answer: unknown) => bitviewSthRealizedPrice.fetch(createAnsweringProvider('bitview', answer), range);

  it('are dated by index, without the running day', async () => {
    expect(await fetchFrom(body([90_000, 91_000, 92_000]))).toEqual([
      { day: TODAY - 2, value: 90_000, providerAtMs: null },
      { day: TODAY - 1, value: 91_000, providerAtMs: null },
    ]);
  });

  it('exclude a last day that has not ended at the provider', async () => {
    expect(await fetchFrom(body([90_000, 91_000]))).toHaveLength(1);
  });

  it('exclude days without a price', async () => {
    expect((await fetchFrom(body([90_000, null, 92_000]))).map(({ day }) => day)).toEqual([TODAY - 2]);
  });

  it('are requested with one extra day, which proves that the last one is complete', async () => {
    const provider = createAnsweringProvider('bitview', body([90_000, 91_000]));
    await bitviewRealizedPrice.fetch(provider, { from: TODAY - 2, to: TODAY - 2 });
    expect(provider.asked).toEqual([{ path: '/api/series/realized_price/day1', query: { start, end: start + 2 } }]);
  });

  it('throw FEED_UNAVAILABLE for an empty list', async () => {
    await expect(fetchFrom(body([]))).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });

  it.each([
    ['a price in words', body(['90000', 1]), 'data.0'],
    ['a price of nothing', body([0, 1]), 'data.0'],
    ['more prices than told', body([1, 2], { end: start + 1 }), 'data'],
    ['another index', body([1, 2], { index: 'week1' }), 'index'],
    ['no start', body([1, 2], { start: undefined }), 'start'],
    ['a day after tomorrow', body([1, 2, 3, 4, 5, 6]), 'date'],
    ['another shape', [1, 2], 'answer'],
  ])('throw FEED_INVALID for %s', async (_, answer, field) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`Bitview: ${field} `),
    });
  });
});

describe('bitcoin-data.com prices', () => {
  const row = (day: number, realizedPrice: unknown) => ({ d: formatDay(day), unixTs: String(toInstantMs(day) / 1_000), realizedPrice });
  const fetchFrom = (answer: unknown) => bitcoinDataRealizedPrice.fetch(createAnsweringProvider('bitcoin-data', answer), range);

  it('are parsed from strings or numbers, without the running day', async () => {
    expect(await fetchFrom([row(TODAY - 2, '54000.5'), row(TODAY - 1, 54_100), row(TODAY, '54200')])).toEqual([
      { day: TODAY - 2, value: 54_000.5, providerAtMs: null },
      { day: TODAY - 1, value: 54_100, providerAtMs: null },
    ]);
  });

  it('are requested by date', async () => {
    const provider = createAnsweringProvider('bitcoin-data', [row(TODAY - 1, '54000')]);
    await bitcoinDataRealizedPrice.fetch(provider, range);
    expect(provider.asked).toEqual([{ path: '/v1/realized-price', query: { startday: '2026-03-08', endday: '2026-03-10' } }]);
  });

  it('throw FEED_UNAVAILABLE for an empty list', async () => {
    await expect(fetchFrom([])).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });

  it.each([
    ['a price in words', [row(TODAY - 1, 'NaN')], '0.realizedPrice'],
    ['an empty price', [row(TODAY - 1, '')], '0.realizedPrice'],
    ['a price of nothing', [row(TODAY - 1, '0')], '0.realizedPrice'],
    ['another price', [{ d: '2026-03-09', sthRealizedPrice: '1' }], '0.realizedPrice'],
    ['no date', [{ theDay: '2026-03-09', realizedPrice: '1' }], '0.d'],
    ['a day after tomorrow', [row(TODAY + 2, '1')], 'date'],
    ['another shape', { error: 'limit' }, 'answer'],
  ])('throw FEED_INVALID for %s', async (_, answer, field) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`bitcoin-data.com: ${field} `),
    });
  });
});

describeWithShared('prices as recorded', () => {
  it('parse a recorded Bitview response', async () => {
    const recorded = readSample('bitview_sth_realized_price.json');
    const from = DAY_ZERO + recorded.start;
    const provider = withArrivalTime(toInstantMs(from + 1, 12), createAnsweringProvider('bitview', recorded));
    expect(await bitviewSthRealizedPrice.fetch(provider, { from, to: from + 1 })).toEqual([
      { day: from, value: recorded.data[0], providerAtMs: null },
    ]);
  });

  it('parse a recorded bitcoin-data.com response', async () => {
    const [recorded] = readSample('bitcoin_data_sth_realized_price.json');
    const day = parseDay(recorded.d);
    const provider = withArrivalTime(toInstantMs(day + 7), createAnsweringProvider('bitcoin-data', [recorded]));
    expect(await bitcoinDataSthRealizedPrice.fetch(provider, { from: day, to: day })).toEqual([
      { day, value: Number(recorded.sthRealizedPrice), providerAtMs: null },
    ]);
  });
});
