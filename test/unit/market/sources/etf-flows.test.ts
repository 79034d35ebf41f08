import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Day, formatDay, parseDay, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { createProviders, parseProviderUrls } from '../../../../src/market/live/providers.ts';
import { getPublicationMs, type Observations, type SeriesId } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { alternativeMeFearGreed } from '../../../../src/market/sources/alternative-me.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from '../../../../src/market/sources/bitcoin-data.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from '../../../../src/market/sources/bitview.ts';
import { dbnomicsPmi } from '../../../../src/market/sources/dbnomics.ts';
import { bitbo, farside, parseFlowTable, selectReportedDays } from '../../../../src/market/sources/etf-flows.ts';
import { fred } from '../../../../src/market/sources/fred.ts';
import { createSosovalueSource } from '../../../../src/market/sources/sosovalue.ts';
import type { EtfDay, EtfSource, SeriesSource } from '../../../../src/market/sources/source.ts';
import { yahoo } from '../../../../src/market/sources/yahoo.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { macroAnswers, toReleaseDay } from '../../../support/provider-data/macro.ts';
import { onchainAnswers } from '../../../support/provider-data/onchain.ts';
import { sentimentAnswers } from '../../../support/provider-data/sentiment.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSample, readSampleText, withArrivalTime } from './recorded-answers.ts';
import { createRowReader, createUnguardedProvider } from './test-providers.ts';

describe('daily figures', () => {
  const market = openSimulatedFeed({ seed: 2 });
  let nowMs = 0;
  let host: ProviderHost;

  beforeAll(async () => {
    host = await startProviderHost(answersOf(market, [sentimentAnswers, macroAnswers, onchainAnswers]), () => nowMs);
  });
  afterAll(() => host.close());

  /** A summer night in which sessions in New York go on, and a winter afternoon. */
  const NIGHT = Date.parse('2025-07-16T01:30:00Z');
  const AFTERNOON = Date.parse('2026-01-20T19:00:00Z');

  const fetchFrom = <Value>(
    source: { provider: SeriesSource['provider']; fetch: SeriesSource['fetch'] | EtfSource['fetch'] },
    from: Day,
    to: Day,
  ) => source.fetch(withArrivalTime(nowMs, createUnguardedProvider(source.provider, host.url)), { from, to }) as Promise<Value[]>;

  function within({ days, values }: Observations, from: Day, to: Day): [string, number][] {
    return Array.from(days, (day, index): [Day, number] => [day, values[index]])
      .filter(([day]) => day >= from && day <= to)
      .map(([day, value]) => [formatDay(day), value]);
  }

  interface Case {
    source: SeriesSource;
    series: SeriesId;
    /** Decimals of the provider. */
    decimals?: number;
    /** Delay of values in days. */
    lateDays?: number;
  }

  const CASES: Record<string, Case> = {
    alternativeMeFearGreed: { source: alternativeMeFearGreed, series: 'fearGreed' },
    'yahoo.dxy': { source: yahoo.dxy, series: 'dxy' },
    'yahoo.sp500': { source: yahoo.sp500, series: 'sp500' },
    'yahoo.gold': { source: yahoo.gold, series: 'gold' },
    'yahoo.vix': { source: yahoo.vix, series: 'vix' },
    'yahoo.us10y': { source: yahoo.us10y, series: 'us10y' },
    'fred.sp500': { source: fred.sp500, series: 'sp500', decimals: 2 },
    'fred.vix': { source: fred.vix, series: 'vix', decimals: 2 },
    'fred.us10y': { source: fred.us10y, series: 'us10y', decimals: 2 },
    'fred.us2y': { source: fred.us2y, series: 'us2y', decimals: 2 },
    'fred.fedFunds': { source: fred.fedFunds, series: 'fedFunds', decimals: 2 },
    'fred.policyRate': { source: fred.policyRate, series: 'policyRate', decimals: 2 },
    dbnomicsPmi: { source: dbnomicsPmi, series: 'pmi' },
    bitviewRealizedPrice: { source: bitviewRealizedPrice, series: 'realizedPrice' },
    bitviewSthRealizedPrice: { source: bitviewSthRealizedPrice, series: 'sthRealizedPrice' },
    bitcoinDataRealizedPrice: { source: bitcoinDataRealizedPrice, series: 'realizedPrice', lateDays: 7 },
    bitcoinDataSthRealizedPrice: { source: bitcoinDataSthRealizedPrice, series: 'sthRealizedPrice', lateDays: 7 },
  };

  describe.each(Object.entries(CASES))('%s against its provider', (_name, { source, series, decimals, lateDays = 0 }) => {
    afterEach(() => host.heal(source.provider));

    describe.each([
      ['at night', NIGHT],
      ['in the afternoon', AFTERNOON],
    ])('%s', (_time, atMs) => {
      it.each([
        ['the last days', 12],
        ['years', 1_300],
      ])('returns the final values of %s', async (_range, days) => {
        nowMs = atMs;
        const [from, to] = [toDay(atMs) - days, toDay(atMs)];
        const fetched = (await fetchFrom<{ day: Day; value: number }>(source, from, to)).toSorted((a, b) => a.day - b.day);
        const final = fetched.filter(({ day }) => getPublicationMs(series, day) <= atMs).map(({ day, value }) => [formatDay(day), value]);
        const known = within(await market.observations(series, atMs), from, to - lateDays);
        // A session that goes on in New York has no close yet, though its day is over in UTC.
        const runsLate = atMs === NIGHT && (series === 'dxy' || series === 'gold');
        const dated =
          series === 'pmi' ? known.map(([date, value]): [string, number] => [formatDay(toReleaseDay(parseDay(date))), value]) : known;
        const expected = runsLate ? dated.slice(0, -1) : dated;
        expect(final).toEqual(decimals === undefined ? expected : expected.map(([date, value]) => [date, Number(value.toFixed(decimals))]));
        expect(fetched.every(({ day }) => day >= from && day <= to)).toBe(true);
      });
    });

    it.each(['changed-shape', 'truncated'] as const)('throws FEED_INVALID naming the provider under the fault %s', async (fault) => {
      nowMs = AFTERNOON;
      host.fault(source.provider, fault);
      await expect(fetchFrom(source, toDay(nowMs) - 40, toDay(nowMs))).rejects.toMatchObject({
        code: 'FEED_INVALID',
        message: expect.stringContaining(createUnguardedProvider(source.provider, host.url).title),
        field: expect.any(String),
      });
    });

    it.each(['empty', 'stale'] as const)('returns nothing recent under the fault %s', async (fault) => {
      nowMs = AFTERNOON;
      host.fault(source.provider, fault);
      const recent = await fetchFrom(source, toDay(nowMs) - 12, toDay(nowMs)).catch((error: { code: string }) => error.code);
      expect([[], 'FEED_UNAVAILABLE', 'FEED_INVALID']).toContainEqual(recent);
    });
  });

  interface Flow {
    day: Day;
    totalMusd: number;
    fundsMusd: Record<string, number> | null;
  }

  const askFlows = async (source: EtfSource, from: Day, to: Day) =>
    (await fetchFrom<Flow>(source, from, to)).toSorted((a, b) => a.day - b.day);

  const FLOWS: [name: string, source: EtfSource, days: number][] = [
    ['sosovalue', createSosovalueSource(undefined), 290],
    ['bitbo', bitbo, 20],
    ['farside', farside, 900],
  ];

  describe.each(FLOWS)('%s against its provider', (_name, source, days) => {
    afterEach(() => host.heal(source.provider));

    it('returns the flows of exchange days, the last ones provisional', async () => {
      nowMs = NIGHT;
      const [from, to] = [Math.max(toDay(nowMs) - days, parseDay('2024-01-11')), toDay(nowMs)];
      const fetched = await askFlows(source, from, to);
      const isFinal = ({ day }: Flow) => getPublicationMs('etfFlow', day) <= nowMs;
      const known = within(await market.observations('etfFlow', nowMs), from, to);
      expect(fetched.filter(isFinal).map(({ day, totalMusd }) => [formatDay(day), totalMusd])).toEqual(known);
      expect(fetched.filter((flow) => !isFinal(flow)).map(({ day }) => formatDay(day))).toEqual(['2025-07-15']);
    });

    it('excludes holidays', async () => {
      nowMs = toInstantMs(parseDay('2025-07-10'));
      const fetched = await askFlows(source, parseDay('2025-07-03'), parseDay('2025-07-07'));
      expect(fetched.map(({ day }) => formatDay(day))).toEqual(['2025-07-03', '2025-07-07']);
    });

    it('throws FEED_INVALID for a changed response', async () => {
      nowMs = AFTERNOON;
      host.fault(source.provider, 'changed-shape');
      await expect(fetchFrom(source, toDay(nowMs) - 10, toDay(nowMs))).rejects.toMatchObject({
        code: 'FEED_INVALID',
        message: expect.stringContaining(createUnguardedProvider(source.provider, host.url).title),
      });
    });

    it('returns nothing recent for a stale response', async () => {
      nowMs = AFTERNOON;
      host.fault(source.provider, 'stale');
      expect(await fetchFrom(source, toDay(nowMs) - 10, toDay(nowMs))).toEqual([]);
    });
  });

  describe('single funds', () => {
    it.each([
      ['bitbo', bitbo],
      ['farside', farside],
    ])('are returned by %s', async (_name, source) => {
      nowMs = NIGHT;
      const [from, to] = [toDay(nowMs) - 18, toDay(nowMs) - 2];
      const fetched = await askFlows(source, from, to);
      const funds = Object.entries(await market.fundFlows(nowMs));
      for (const [ticker, flows] of funds) {
        const known = within(flows, from, to);
        expect(fetched.map(({ day }) => formatDay(day))).toEqual(known.map(([date]) => date));
        known.forEach(([, flow], index) => void expect(fetched[index].fundsMusd![ticker]).toBeCloseTo(flow, 9));
      }
      expect(Object.keys(fetched[0].fundsMusd!)).toHaveLength(funds.length);
    });

    it('are not returned by sosovalue', async () => {
      nowMs = NIGHT;
      const fetched = await askFlows(createSosovalueSource(undefined), toDay(nowMs) - 18, toDay(nowMs));
      expect(new Set(fetched.map(({ fundsMusd }) => fundsMusd))).toEqual(new Set([null]));
    });
  });

  describe('an unreadable response', () => {
    it.each([
      ['alternative-me', alternativeMeFearGreed],
      ['farside', farside],
      ['yahoo', yahoo.sp500],
    ] as const)('counts as a failure of %s', async (id, source) => {
      nowMs = AFTERNOON;
      host.fault(id, 'changed-shape');
      const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
      const timing = { minIntervalMs: 0 };
      const provider = createProviders({ urls: parseProviderUrls(host.providerUrls), log, now: () => nowMs, timing })[id];
      await expect(source.fetch(provider, { from: toDay(nowMs) - 5, to: toDay(nowMs) })).rejects.toThrow(provider.title);
      host.heal(id);
      expect(provider.health()).toMatchObject({ calls: 1, failures: 1 });
    });
  });
});

describe('etf source', () => {
  const FRIDAY = parseDay('2024-03-01');
  const WEEK = { from: FRIDAY, to: FRIDAY + 6 };
  const NOW_MS = toInstantMs(FRIDAY + 6, 12);
  const flow = (day: number, totalMusd = 5) => ({ day, totalMusd, fundsMusd: null });
  const reported = (...days: ReturnType<typeof flow>[]) =>
    selectReportedDays(days, WEEK, createRowReader('Acme'), NOW_MS).map(({ day }) => day);

  describe('selectReportedDays', () => {
    it('excludes days outside the range', () => {
      expect(reported(flow(FRIDAY - 1), flow(FRIDAY), flow(FRIDAY + 6), flow(FRIDAY + 7))).toEqual([FRIDAY, FRIDAY + 6]);
    });

    it('excludes weekends', () => {
      expect(reported(flow(FRIDAY + 1), flow(FRIDAY + 2), flow(FRIDAY + 3))).toEqual([FRIDAY + 3]);
    });

    it('excludes holidays even with a flow', () => {
      const goodFriday = parseDay('2024-03-29');
      expect(
        selectReportedDays(
          [flow(goodFriday, 0), flow(goodFriday)],
          { from: goodFriday, to: goodFriday },
          createRowReader('Acme'),
          toInstantMs(goodFriday + 1),
        ),
      ).toEqual([]);
    });

    it('excludes days without a flow', () => {
      const balanced = { day: FRIDAY + 4, totalMusd: 0, fundsMusd: { IBIT: 3, GBTC: -3 } };
      const silent = { day: FRIDAY + 5, totalMusd: 0, fundsMusd: { IBIT: 0, GBTC: 0 } };
      expect(selectReportedDays([flow(FRIDAY, 0), balanced, silent], WEEK, createRowReader('Acme'), NOW_MS)).toEqual([balanced]);
    });

    it('returns a repeated day once', () => {
      expect(selectReportedDays([flow(FRIDAY, 1), flow(FRIDAY, 2)], WEEK, createRowReader('Acme'), NOW_MS)).toEqual([flow(FRIDAY, 2)]);
    });

    it('leaves out a day after tomorrow, and rejects an answer of such days', () => {
      const reader = createRowReader('Acme');
      expect(selectReportedDays([flow(FRIDAY), flow(FRIDAY + 8)], WEEK, reader, NOW_MS)).toEqual([flow(FRIDAY)]);
      expect(reader.leftOut).toMatchObject([{ field: 'date' }]);
      expect(() => reported(flow(FRIDAY + 8))).toThrow(expect.objectContaining({ code: 'FEED_INVALID', field: 'date' }));
    });
  });
});

describe('flow table', () => {
  const WEEK = { from: parseDay('2025-02-03'), to: parseDay('2025-02-07') };

  const row = (cells: string[]) => `<tr>${cells.map((cell) => `<td><span> ${cell}\n</span></td>`).join('')}</tr>`;
  const table = (...rows: string[][]) => `<html><table><tr><td>Home</td></tr></table><table>${rows.map(row).join('\n')}</table></html>`;
  const HEADER = ['Date', 'IBIT', 'GBTC', 'Total'];

  const read = (...rows: string[][]) => parseFlowTable(table(...rows), WEEK, createRowReader('Acme'));
  const oneRow = (...cells: string[]) => read(HEADER, ['04 Feb 2025', ...cells])[0];

  describe('parseFlowTable', () => {
    it('parses a row per day and a column per fund', () => {
      expect(read(HEADER, ['03 Feb 2025', '10.5', '-2.5', '8.0'], ['04 Feb 2025', '1.0', '2.0', '3.0'])).toEqual([
        { day: parseDay('2025-02-03'), totalMusd: 8, fundsMusd: { IBIT: 10.5, GBTC: -2.5 } },
        { day: parseDay('2025-02-04'), totalMusd: 3, fundsMusd: { IBIT: 1, GBTC: 2 } },
      ]);
    });

    it.each([
      ['(1.2)', -1.2],
      ['-1.2', -1.2],
      ['1,234.5', 1234.5],
      ['(1,234.5)', -1234.5],
      ['7', 7],
      ['-', 0],
      ['\u2014', 0],
      ['', 0],
      ['-0.0', 0],
      ['(0.0)', 0],
    ])('parses "%s" as %d', (text, musd) => {
      expect(oneRow('0.0', text, text).totalMusd).toBe(musd);
    });

    it('takes a line break in a cell for a space', () => {
      expect(read(HEADER, ['04<br>Feb<br/>2025', '1.0', '2.0', '<br>3.0'])).toMatchObject([{ day: parseDay('2025-02-04'), totalMusd: 3 }]);
    });

    it.each(['n/a', '1.2.3', '12a', '(1.2', '1.2)', '--1', '(-1.2)', ',', '1e3', '$5', 'NaN'])('rejects "%s"', (text) => {
      expect(() => oneRow('0.0', text, '0.0')).toThrow(
        expect.objectContaining({ code: 'FEED_INVALID', field: '2025-02-04.GBTC', message: 'Acme: 2025-02-04.GBTC is not an amount' }),
      );
    });

    it.each(['04 Feb 2025', '4 Feb 2025', 'Feb 04, 2025', 'Feb 4, 2025', '04&nbsp;Feb&nbsp;2025'])('parses the date %s', (date) => {
      expect(read(HEADER, [date, '1.0', '2.0', '3.0']).map(({ day }) => formatDay(day))).toEqual(['2025-02-04']);
    });

    it('skips sums, fees, blank rows and other tables', () => {
      const rows = [['', 'BlackRock', 'Grayscale', ''], HEADER, ['Fee', '0.25%', '1.5%', ''], [], ['04 Feb 2025', '1.0', '2.0', '3.0']];
      expect(read(...rows, ['Total', '9', '9', '99'], ['Average', 'x', 'y', 'z'])).toHaveLength(1);
    });

    it('skips an unclosed row', () => {
      const page = table(HEADER, ['04 Feb 2025', '1.0', '2.0', '3.0']).replace('</tr>\n', '</tr>\n<tr>\n');
      expect(parseFlowTable(page, WEEK, createRowReader('Acme'))).toHaveLength(1);
    });

    it('skips columns of no fund', () => {
      const parsed = read(['Date', 'BTC price', 'IBIT', 'Totals', 'Note'], ['04 Feb 2025', '$98,000', '3.0', '3.0', 'late']);
      expect(parsed).toMatchObject([{ totalMusd: 3, fundsMusd: { IBIT: 3 } }]);
    });

    it('uses an unnamed last column as the total', () => {
      expect(read(['', 'IBIT', 'GBTC', ''], ['04 Feb 2025', '1.0', '2.0', '3.0'])).toMatchObject([{ totalMusd: 3 }]);
    });

    it('ignores days outside the range', () => {
      expect(
        read(HEADER, ['31 Jan 2025', 'broken', '', ''], ['04 Feb 2025', '1.0', '2.0', '3.0'], ['10 Feb 2025', '1', '1', '9']),
      ).toHaveLength(1);
    });

    it('tolerates rounding in totals', () => {
      expect(oneRow('0.1', '0.1', '0.3').totalMusd).toBe(0.3);
    });

    it('rejects a total that is not the sum of the funds', () => {
      expect(() => oneRow('1.0', '2.0', '3.2')).toThrow('Acme: 2025-02-04.Total is 3.2, but the funds add up to 3.0');
    });

    it.each([
      ['a row that is too short', [HEADER, ['04 Feb 2025', '1.0', '2.0']], '2025-02-04.Total'],
      [
        'no column of the largest fund',
        [
          ['Date', 'AAAA', 'Total'],
          ['04 Feb 2025', '1.0', '1.0'],
        ],
        'table',
      ],
      [
        'no total',
        [
          ['Date', 'IBIT'],
          ['04 Feb 2025', '1.0'],
        ],
        'table',
      ],
      ['no dates', [HEADER], 'table'],
      ['other dates', [HEADER, ['2025/02/04', '1.0', '2.0', '3.0']], 'table'],
    ])('throws FEED_INVALID for %s', (_, rows, field) => {
      expect(() => read(...rows)).toThrow(expect.objectContaining({ code: 'FEED_INVALID', field }));
    });

    it.each(['<html><title>Just a moment...</title></html>', '', null, { rows: [] }])('throws FEED_INVALID for the page %j', (page) => {
      expect(() => parseFlowTable(page, WEEK, createRowReader('Acme'))).toThrow(expect.objectContaining({ code: 'FEED_INVALID' }));
    });
  });

  describeWithShared('tables as recorded', () => {
    it('parses a recorded Farside page', () => {
      const from = parseDay('2026-06-04');
      const days = parseFlowTable(readSampleText('etf_farside_table.html'), { from, to: from }, createRowReader('Farside'));
      expect(days).toHaveLength(1);
      expect(days[0].totalMusd).toBe(Object.values(days[0].fundsMusd!).reduce((sum, flow) => sum + flow, 0));
    });

    it('parses a recorded Bitbo page', () => {
      const recorded: { date: string; flows: Record<string, number>; total: number }[] = readSample('etf_bitbo_parsed.json').daily_flows;
      const tickers = Object.keys(recorded[0].flows);
      const months = Intl.DateTimeFormat('en-US', { month: 'short', day: '2-digit', year: 'numeric', timeZone: 'UTC' });
      const rows = recorded.map(({ date, flows, total }) => [
        months.format(Date.parse(date)),
        ...tickers.map((ticker) => flows[ticker].toFixed(1)),
        total.toFixed(1),
      ]);
      const range = { from: parseDay(recorded[0].date), to: parseDay(recorded.at(-1)!.date) };
      const expected: EtfDay[] = recorded.map(({ date, flows, total }) => ({ day: parseDay(date), totalMusd: total, fundsMusd: flows }));
      expect(parseFlowTable(table(['Date', ...tickers, 'Totals'], ...rows), range, createRowReader('Bitbo'))).toEqual(expected);
    });
  });
});
