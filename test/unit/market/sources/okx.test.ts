import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../src/forecast/day.ts';
import { okxFunding, okxOpenInterest } from '../../../../src/market/sources/okx.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: TODAY - 5, to: TODAY };

/** The 1D bar that ends at 16:00 UTC of a day. */
const bar = (day: number, usd: unknown) => [String(toInstantMs(day - 1, 16)), '900', '9', usd];
const bars = (...data: unknown[]) => ({ code: '0', msg: '', data });

describe('okxOpenInterest', () => {
  const fetchFrom = (body: unknown) => okxOpenInterest.fetch(createAnsweringProvider('okx', body), range);

  it('dates a bar by its end', async () => {
    expect(await fetchFrom(bars(bar(TODAY - 1, '2500.5'), bar(TODAY - 2, '2400')))).toEqual([
      { day: TODAY - 1, value: 2500.5, providerAtMs: toInstantMs(TODAY - 1, 16) },
      { day: TODAY - 2, value: 2400, providerAtMs: toInstantMs(TODAY - 2, 16) },
    ]);
  });

  it('excludes the running bar', async () => {
    // It is 15:30: the bar that ends today runs for another half an hour.
    const values = await fetchFrom(bars(bar(TODAY, '2600'), bar(TODAY - 1, '2500')));
    expect(values.map(({ day }) => day)).toEqual([TODAY - 1]);
  });

  it('requests the bars that end within the range', async () => {
    const provider = createAnsweringProvider('okx', bars(bar(TODAY - 1, '1')));
    await okxOpenInterest.fetch(provider, range);
    const { begin, end } = provider.asked[0].query as { begin: number; end: number };
    expect([begin < toInstantMs(TODAY - 6, 16), begin >= toInstantMs(TODAY - 7, 16)]).toEqual([true, true]);
    expect([end > toInstantMs(TODAY - 1, 16), end <= toInstantMs(TODAY, 16)]).toEqual([true, true]);
  });

  it('throws FEED_UNAVAILABLE with the rejection code', async () => {
    await expect(fetchFrom({ code: '50011', msg: 'Too Many Requests', data: [] })).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'OKX: rejected with code 50011',
    });
  });

  it.each([
    ['a value that is no number', bar(TODAY - 1, '--'), 'data.0.3'],
    ['an empty value', bar(TODAY - 1, ''), 'data.0.3'],
    ['nothing open', bar(TODAY - 1, '0'), 'data.0.3'],
    ['another row', { usd: '2500' }, 'data.0'],
    ['a date after tomorrow', bar(TODAY + 2, '2500'), 'date'],
  ])('throws FEED_INVALID for %s', async (_, row, field) => {
    await expect(fetchFrom(bars(row))).rejects.toMatchObject({ code: 'FEED_INVALID', field, message: expect.stringContaining('OKX: ') });
  });
});

describe('okxFunding', () => {
  const funding = (day: number, hours: number, realizedRate: string) => ({
    ...{ instType: 'SWAP', instId: 'BTC-USDT-SWAP', fundingRate: '0.5', realizedRate },
    fundingTime: String(toInstantMs(day, hours)),
  });

  const fetchFrom = (...data: unknown[]) => okxFunding.fetch(createAnsweringProvider('okx', { code: '0', msg: '', data }), range);

  it('returns the mean realized rate of a day', async () => {
    const rows = [funding(TODAY - 1, 16, '0.0003'), funding(TODAY - 1, 8, '-0.0001'), funding(TODAY - 1, 0, '0.0001')];
    expect(await fetchFrom(...rows)).toEqual([
      { day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: toInstantMs(TODAY - 1, 16) },
    ]);
  });

  it.each([
    ['an empty rate', funding(TODAY - 1, 0, ''), 'data.0.realizedRate'],
    ['a rate in words', funding(TODAY - 1, 0, 'free'), 'data.0.realizedRate'],
    ['a date after tomorrow', funding(TODAY + 2, 0, '0.0001'), 'date'],
  ])('throws FEED_INVALID for %s', async (_, row, field) => {
    await expect(fetchFrom(row)).rejects.toMatchObject({ code: 'FEED_INVALID', field, message: expect.stringContaining('OKX: ') });
  });
});
