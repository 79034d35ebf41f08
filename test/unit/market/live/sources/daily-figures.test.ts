import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Day, formatDay, parseDay, toDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { createProviders, parseProviderUrls } from '../../../../../src/market/live/providers.ts';
import { getPublicationMs, type Observations, type SeriesId } from '../../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../../src/market/simulated.ts';
import { alternativeMeFearGreed } from '../../../../../src/market/sources/alternative-me.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from '../../../../../src/market/sources/bitcoin-data.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from '../../../../../src/market/sources/bitview.ts';
import { dbnomicsPmi } from '../../../../../src/market/sources/dbnomics.ts';
import { bitbo, farside } from '../../../../../src/market/sources/etf-flows.ts';
import { fred } from '../../../../../src/market/sources/fred.ts';
import { createSosovalueSource } from '../../../../../src/market/sources/sosovalue.ts';
import type { EtfSource, SeriesSource } from '../../../../../src/market/sources/source.ts';
import { yahoo } from '../../../../../src/market/sources/yahoo.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../../support/market/provider-host.ts';
import { macroAnswers, toReleaseDay } from '../../../../support/provider-data/macro.ts';
import { onchainAnswers } from '../../../../support/provider-data/onchain.ts';
import { sentimentAnswers } from '../../../../support/provider-data/sentiment.ts';
import { withArrivalTime } from './recorded-answers.ts';
import { createUnguardedProvider } from './test-providers.ts';

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
