import { describe, expect, it } from 'vitest';
import { type Day, formatDay, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { yahoo } from '../../../../src/market/sources/yahoo.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSample, withArrivalTime } from './recorded-answers.ts';
import { createAnsweringProvider } from './test-providers.ts';

const THURSDAY = parseDay('2025-01-16');
const WEEK = { from: THURSDAY - 3, to: THURSDAY + 3 };
/** Midnight in New York, in winter. */
const midnight = (day: Day) => toInstantMs(day, 5) / 1_000;

interface ChartOptions {
  bars: [opensAt: number, close: unknown][];
  symbol?: string;
  meta?: object;
}

/** A chart of an index that is quoted around the clock; its session is that of the day `THURSDAY`. */
function chart({ bars, symbol = 'DX-Y.NYB', meta = {} }: ChartOptions) {
  const regular = { start: midnight(THURSDAY), end: midnight(THURSDAY + 1) - 60 };
  const data = {
    meta: {
      symbol,
      dataGranularity: '1d',
      gmtoffset: -18_000,
      exchangeTimezoneName: 'America/New_York',
      regularMarketTime: midnight(THURSDAY) + 3_600,
      currentTradingPeriod: { regular },
      ...meta,
    },
    timestamp: bars.map(([opensAt]) => opensAt),
    indicators: { quote: [{ close: bars.map(([, close]) => close) }] },
  };
  return { chart: { result: [data], error: null } };
}

const NOON_MS = toInstantMs(THURSDAY, 17);
const fetchDxy = (body: unknown, nowMs = NOON_MS, range = WEEK) =>
  yahoo.dxy.fetch(withArrivalTime(nowMs, createAnsweringProvider('yahoo', body)), range);
const days = async (...data: Parameters<typeof fetchDxy>) => (await fetchDxy(...data)).map(({ day }) => formatDay(day));

describe('Yahoo closes', () => {
  it("are dated in the exchange's time zone and rounded to seven digits", async () => {
    const bars: ChartOptions['bars'] = [
      [midnight(THURSDAY - 1), Math.fround(109.095)],
      [midnight(THURSDAY), Math.fround(108.8)],
    ];
    expect(await fetchDxy(chart({ bars }))).toEqual([
      { day: THURSDAY - 1, value: 109.095, providerAtMs: null },
      { day: THURSDAY, value: 108.8, providerAtMs: toInstantMs(THURSDAY, 6) },
    ]);
  });

  it('are dated by the daylight saving time of their season', async () => {
    const july = parseDay('2024-07-16');
    const bars: ChartOptions['bars'] = [[toInstantMs(july, 4) / 1_000, 104]];
    expect(await days(chart({ bars }), NOON_MS, { from: july - 1, to: july })).toEqual(['2024-07-16']);
  });

  it('exclude days without a close, weekends, Christmas and New Year', async () => {
    const [saturday, sunday] = [THURSDAY - 5, THURSDAY - 4];
    const bars = [parseDay('2024-12-25'), parseDay('2025-01-01'), saturday, sunday, THURSDAY - 3].map((day): ChartOptions['bars'][0] => [
      midnight(day),
      109,
    ]);
    const range = { from: THURSDAY - 30, to: THURSDAY };
    expect(await days(chart({ bars: [...bars, [midnight(THURSDAY - 2), null]] }), NOON_MS, range)).toEqual(['2025-01-13']);
  });

  it('include a repeated running bar once', async () => {
    const bars: ChartOptions['bars'] = [
      [midnight(THURSDAY), 108],
      [midnight(THURSDAY) + 3_600, 109],
    ];
    expect(await fetchDxy(chart({ bars }))).toMatchObject([{ day: THURSDAY, value: 109 }]);
  });

  describe('of a session open after midnight UTC', () => {
    const bars: ChartOptions['bars'] = [
      [midnight(THURSDAY - 1), 109],
      [midnight(THURSDAY), 108],
    ];

    it.each([
      ['told while its day lasts', toInstantMs(THURSDAY, 23, 59), ['2025-01-15', '2025-01-16']],
      ['left out once its day is over', toInstantMs(THURSDAY + 1), ['2025-01-15']],
      ['left out until the session ends', toInstantMs(THURSDAY + 1, 4, 58), ['2025-01-15']],
      ['told again from then on', toInstantMs(THURSDAY + 1, 4, 59), ['2025-01-15', '2025-01-16']],
    ])('are %s', async (_, nowMs, expected) => {
      expect(await days(chart({ bars }), nowMs)).toEqual(expected);
    });
  });

  it('are empty for a range without bars', async () => {
    const body = chart({ bars: [] });
    const empty = { chart: { result: [{ meta: body.chart.result[0].meta, indicators: { quote: [{}] } }], error: null } };
    expect(await fetchDxy(empty)).toEqual([]);
  });

  it('are requested by symbol and time', async () => {
    const provider = createAnsweringProvider('yahoo', chart({ bars: [], symbol: '^GSPC' }));
    await yahoo.sp500.fetch(provider, WEEK);
    const query = { period1: toInstantMs(WEEK.from) / 1_000, period2: toInstantMs(WEEK.to + 2) / 1_000, interval: '1d' };
    expect(provider.asked).toEqual([{ path: '/v8/finance/chart/%5EGSPC', query }]);
  });

  const bar: ChartOptions['bars'] = [[midnight(THURSDAY), 108]];
  const withTimestamps = (timestamp: unknown) => {
    const { meta, indicators } = chart({ bars: bar }).chart.result[0];
    return { chart: { result: [{ meta, timestamp, indicators }], error: null } };
  };

  it.each([
    ['a close in words', chart({ bars: [[midnight(THURSDAY), '108']] }), 'chart.result.0.indicators.quote.0.close.0'],
    ['a close of nothing', chart({ bars: [[midnight(THURSDAY), 0]] }), 'chart.result.0.indicators.quote.0.close.0'],
    ['no times', withTimestamps(undefined), 'chart.result.0.indicators.quote.0.close'],
    ['too many times', withTimestamps([1, 2]), 'chart.result.0.indicators.quote.0.close'],
    ['times in words', withTimestamps(['2025-01-16']), 'chart.result.0.timestamp.0'],
    ['weekly bars', chart({ bars: bar, meta: { dataGranularity: '1wk' } }), 'chart.result.0.meta.dataGranularity'],
    ['an unknown time zone', chart({ bars: bar, meta: { exchangeTimezoneName: 'Mars/Base' } }), 'chart.result.0.meta.exchangeTimezoneName'],
    ['another symbol', chart({ bars: bar, symbol: 'GC=F' }), 'symbol'],
    ['an error', { chart: { result: null, error: { code: 'Not Found' } } }, 'chart.error'],
    ['no result', { chart: { result: [], error: null } }, 'chart.result'],
    ['another shape', { finance: {} }, 'chart'],
    ['a day after tomorrow', chart({ bars: [[midnight(THURSDAY + 4), 108]] }), 'date'],
  ])('throw FEED_INVALID for %s', async (_, body, field) => {
    await expect(fetchDxy(body)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`Yahoo Finance: ${field} `),
    });
  });

  it('throw FEED_INVALID for another symbol', async () => {
    await expect(
      yahoo.gold.fetch(withArrivalTime(NOON_MS, createAnsweringProvider('yahoo', chart({ bars: bar }))), WEEK),
    ).rejects.toMatchObject({
      field: 'symbol',
    });
  });
});

describeWithShared('charts as recorded', () => {
  const wholeOf = (recorded: { chart: { result: [{ timestamp: number[] }] } }) => {
    const times = recorded.chart.result[0].timestamp;
    return { from: Math.floor(times[0] / 86_400), to: Math.floor(times.at(-1)! / 86_400) };
  };

  it('parse a recorded dollar index without Sundays', async () => {
    const recorded = readSample('yahoo_chart_dxy.json');
    const [{ meta, indicators }] = recorded.chart.result;
    const provider = withArrivalTime(meta.currentTradingPeriod.regular.end * 1_000, createAnsweringProvider('yahoo', recorded));
    const values = await yahoo.dxy.fetch(provider, wholeOf(recorded));
    expect(values).toHaveLength(indicators.quote[0].close.filter((close: number | null) => close !== null).length);
    expect(values.map(({ day }) => new Date(toInstantMs(day)).getUTCDay()).every((weekday) => weekday >= 1 && weekday <= 5)).toBe(true);
    expect(values.at(-1)).toEqual({
      day: wholeOf(recorded).to,
      value: meta.regularMarketPrice,
      providerAtMs: meta.regularMarketTime * 1_000,
    });
  });

  it('parse recorded S&P 500 closes to the cent', async () => {
    const recorded = readSample('yahoo_chart_spx.json');
    const [{ meta, timestamp }] = recorded.chart.result;
    const provider = withArrivalTime(meta.regularMarketTime * 1_000, createAnsweringProvider('yahoo', recorded));
    const values = await yahoo.sp500.fetch(provider, wholeOf(recorded));
    expect(values).toHaveLength(timestamp.length);
    for (const { value } of values) expect(value).toBe(Number(value.toFixed(2)));
    expect(values.at(-1)!.value).toBe(meta.regularMarketPrice);
  });
});
