import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { deribitBasis, deribitDvol } from '../../../../src/market/sources/deribit.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createAnsweringProvider, NOW_MS, TODAY } from './test-providers.ts';

const range = { from: TODAY - 5, to: TODAY };
const candle = (day: number, close: unknown) => [toInstantMs(day), 40, 44, 39, close];
const page = (data: unknown[], continuation: unknown = null) => ({ jsonrpc: '2.0', result: { data, continuation } });

describe('deribitDvol', () => {
  const fetchFrom = (...pages: unknown[]) => deribitDvol.fetch(createAnsweringProvider('deribit', ...pages), range);

  it('returns the close of each day and the latest value of today', async () => {
    expect(await fetchFrom(page([candle(TODAY - 1, 41.5), candle(TODAY, 42.5)]))).toEqual([
      { day: TODAY - 1, value: 41.5, providerAtMs: toInstantMs(TODAY - 1) },
      { day: TODAY, value: 42.5, providerAtMs: toInstantMs(TODAY) },
    ]);
  });

  it('requests the next page', async () => {
    const olderEnd = toInstantMs(TODAY - 1) - 1;
    const provider = createAnsweringProvider(
      'deribit',
      page([candle(TODAY - 1, 41)], olderEnd),
      page([candle(TODAY - 3, 43), candle(TODAY - 2, 42)]),
    );
    const values = await deribitDvol.fetch(provider, range);
    expect(values.map(({ day }) => day).toSorted()).toEqual([TODAY - 3, TODAY - 2, TODAY - 1]);
    expect(provider.asked.map(({ query }) => query?.end_timestamp)).toEqual([toInstantMs(TODAY + 1) - 1, olderEnd]);
  });

  it('stops when the continuation does not move', async () => {
    const provider = createAnsweringProvider('deribit', page([candle(TODAY - 1, 41)], toInstantMs(TODAY - 1)));
    await deribitDvol.fetch(provider, range);
    expect(provider.asked).toHaveLength(2);
  });

  it.each([
    ['a missing close', page([candle(TODAY - 1, null)]), 'result.data.0.4'],
    ['a close in words', page([candle(TODAY - 1, '41')]), 'result.data.0.4'],
    ['a close of nothing', page([candle(TODAY - 1, 0)]), 'result.data.0.4'],
    ['no word on further pages', { result: { data: [] } }, 'result.continuation'],
    ['no result', { error: { code: 13020 } }, 'result'],
    ['a date after tomorrow', page([candle(TODAY + 2, 41)]), 'date'],
  ])('throws FEED_INVALID for %s', async (_, body, field) => {
    await expect(fetchFrom(body)).rejects.toMatchObject({ code: 'FEED_INVALID', field, message: expect.stringContaining('Deribit: ') });
  });
});

describe('deribitBasis', () => {
  const ticker = (mark_price: unknown, index_price: unknown, timestamp = NOW_MS) => ({ result: { mark_price, index_price, timestamp } });
  const fetchFrom = (body: unknown) => deribitBasis.fetch(createAnsweringProvider('deribit', body), range);

  it('returns mark over index minus one', async () => {
    expect(await fetchFrom(ticker(101, 100))).toEqual([{ day: TODAY, value: expect.closeTo(0.01, 12), providerAtMs: NOW_MS }]);
  });

  it.each([
    [ticker(101, 0), 'result.index_price'],
    [ticker('101', 100), 'result.mark_price'],
    [ticker(null, 100), 'result.mark_price'],
    [{ result: {} }, 'result.mark_price'],
    [ticker(101, 100, toInstantMs(TODAY + 2)), 'date'],
  ])('throws FEED_INVALID for %j', async (body, field) => {
    await expect(fetchFrom(body)).rejects.toMatchObject({ code: 'FEED_INVALID', field });
  });
});

describeWithShared('the volatility index as recorded', () => {
  it('parses the recorded response', async () => {
    const body = JSON.parse(readFileSync(sharedPath('data/api-samples/deribit_dvol.json'), 'utf8'));
    const [opensAtMs, , , , close] = body.result.data[0];
    const day = toDay(opensAtMs);
    expect(await deribitDvol.fetch(createAnsweringProvider('deribit', body), { from: day, to: day })).toEqual([
      { day, value: close, providerAtMs: opensAtMs },
    ]);
  });
});
