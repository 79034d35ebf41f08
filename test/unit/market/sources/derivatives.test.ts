import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../src/forecast/day.ts';
import type { Provider } from '../../../../src/market/live/provider.ts';
import { binanceFunding } from '../../../../src/market/sources/binance-futures.ts';
import { bybitFunding } from '../../../../src/market/sources/bybit.ts';
import { computeDailyFunding } from '../../../../src/market/sources/derivatives.ts';
import { okxFunding } from '../../../../src/market/sources/okx.ts';
import { createAnsweringProvider, NOW_MS, TODAY } from './test-providers.ts';

const fundings = (day: number, ...rates: number[]) =>
  rates.map((rate, index) => ({ atMs: toInstantMs(day, (24 / rates.length) * index), rate }));

describe('dailyFunding', () => {
  it('returns the mean of three fundings a day', () => {
    expect(computeDailyFunding(fundings(TODAY - 1, 0.0001, -0.0002, 0.0004), NOW_MS)).toEqual([
      { day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: toInstantMs(TODAY - 1, 16) },
    ]);
  });

  it('stays per 8 h with fundings every 4 h', () => {
    const [{ value }] = computeDailyFunding(fundings(TODAY - 1, ...Array(6).fill(0.0001)), NOW_MS);
    expect(value).toBeCloseTo(0.0002, 12);
  });

  it('excludes the running day and incomplete days', () => {
    const payments = [...fundings(TODAY, 1, 2, 3), ...fundings(TODAY - 1, 1, 2, 3).slice(1), ...fundings(TODAY - 2, 1, 2, 3)];
    expect(computeDailyFunding(payments, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 2]);
  });

  const [HOURS_1, HOURS_2, HOURS_4] = [24, 12, 6].map((count) => Array.from({ length: count }, () => 0.0001));

  it.each([
    ['1 h', HOURS_1],
    ['2 h', HOURS_2],
    ['4 h', HOURS_4],
  ])('excludes a day of %s intervals that the page limit cut, or that lacks a payment', (_, rates) => {
    const cut = [...fundings(TODAY - 2, ...rates).slice(-3), ...fundings(TODAY - 1, ...rates)];
    expect(computeDailyFunding(cut, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 1]);
    for (let missing = 0; missing < rates.length; missing++) {
      const payments = [...fundings(TODAY - 2, ...rates), ...fundings(TODAY - 1, ...rates).toSpliced(missing, 1)];
      expect(computeDailyFunding(payments, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 2]);
    }
  });

  it('counts a day on which the interval changes', () => {
    const hours = [0, 8, 12, 16, 20, 24, 28];
    const payments = [
      ...fundings(TODAY - 2, 0.0003, 0.0003, 0.0003),
      ...hours.map((hour) => ({ atMs: toInstantMs(TODAY - 1, hour), rate: 0.0003 })),
    ];
    expect(computeDailyFunding(payments, NOW_MS).map(({ day, value }) => [day, value])).toEqual([
      [TODAY - 2, expect.closeTo(0.0003, 12)],
      [TODAY - 1, expect.closeTo(0.0005, 12)],
    ]);
  });

  it('counts a day between two that lack a payment', () => {
    const [before, day, after] = [TODAY - 3, TODAY - 2, TODAY - 1].map((date) => fundings(date, ...HOURS_4));
    const payments = [...before.slice(0, -1), ...day, ...after.toSpliced(1, 1)];
    expect(computeDailyFunding(payments, NOW_MS).map(({ day: found }) => found)).toEqual([TODAY - 2]);
  });

  it('excludes a day of which every second payment is missing', () => {
    const payments = [
      ...fundings(TODAY - 2, ...HOURS_4),
      ...fundings(TODAY - 1, ...HOURS_4).filter((_, index) => index !== 1 && index !== 3),
    ];
    expect(computeDailyFunding(payments, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 2]);
  });

  it('counts a repeated funding once', () => {
    const payments = fundings(TODAY - 1, 0.0001, 0.0002, 0.0003);
    expect(computeDailyFunding([...payments, payments[2]], NOW_MS)).toEqual(computeDailyFunding(payments, NOW_MS));
    expect(computeDailyFunding([payments[0], payments[0], payments[0]], NOW_MS)).toEqual([]);
  });
});

describe.each([
  ['OKX', okxFunding, 4],
  ['OKX', okxFunding, 8],
  ['Bybit', bybitFunding, 1],
  ['Bybit', bybitFunding, 2],
  ['Binance', binanceFunding, 1],
] as const)('a page of %s', (_, source, hours) => {
  it.each([[[]], [[5, Date.UTC(2099, 0, 1)]]])(
    `has every day of its range at intervals of ${hours} h, beside payments of %j`,
    async (wrongTimes) => {
      const range = { from: TODAY - source.pageDays + 1, to: TODAY };
      const values = await source.fetch(createExchange(source.provider as ExchangeId, hours, wrongTimes), range);
      const days = Array.from({ length: source.pageDays - 1 }, (__, index) => range.from + index);
      expect(values.map(({ day }) => day).toSorted((a, b) => a - b)).toEqual(days);
      for (const { value } of values) expect(value).toBeCloseTo((0.0001 * 8) / hours, 12);
    },
  );
});

type ExchangeId = 'okx' | 'bybit' | 'binance-futures';

/** An exchange with a payment every `hours`, and the page limits of the real one. */
function createExchange(id: ExchangeId, hours: number, wrongTimes: number[]): Provider {
  const all = Array.from({ length: (400 * 24) / hours }, (_, index) => toInstantMs(TODAY - 399, index * hours)).filter(
    (atMs) => atMs <= NOW_MS,
  );
  const rate = '0.0001';
  const request: Provider['request'] = async ({ query = {} }) => {
    const [from, to] = [Number(query.startTime ?? 0), Number(query.endTime ?? Number(query.after) - 1)];
    const found = all.filter((atMs) => atMs >= from && atMs <= to);
    const bodies = {
      okx: () => ({
        code: '0',
        data: [...wrongTimes, ...found.slice(-100)].map((atMs) => ({ realizedRate: rate, fundingTime: String(atMs) })).reverse(),
      }),
      bybit: () => ({
        retCode: 0,
        result: {
          list: [...wrongTimes, ...found.slice(-200)].map((atMs) => ({ fundingRate: rate, fundingRateTimestamp: String(atMs) })).reverse(),
        },
      }),
      'binance-futures': () => [...wrongTimes, ...found.slice(0, 1_000)].map((fundingTime) => ({ fundingRate: rate, fundingTime })),
    };
    return { body: bodies[id](), receivedAtMs: NOW_MS, providerAtMs: null };
  };
  return { ...createAnsweringProvider(id, null), request };
}
