import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Day, dayOf, formatDay, instantOf, parseDay } from '../../../../../src/forecast/day.ts';
import { createProviders } from '../../../../../src/market/live/create-providers.ts';
import { parseProviderUrls } from '../../../../../src/market/live/provider-urls.ts';
import type { EtfSource, SeriesSource } from '../../../../../src/market/live/source.ts';
import { alternativeMeFearGreed } from '../../../../../src/market/live/sources/alternative-me.ts';
import { bitbo } from '../../../../../src/market/live/sources/bitbo.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from '../../../../../src/market/live/sources/bitcoin-data.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from '../../../../../src/market/live/sources/bitview.ts';
import { dbnomicsPmi } from '../../../../../src/market/live/sources/dbnomics.ts';
import { farside } from '../../../../../src/market/live/sources/farside.ts';
import { fredFedFunds, fredPolicyRate, fredSp500, fredUs2y, fredUs10y, fredVix } from '../../../../../src/market/live/sources/fred.ts';
import { sosovalue } from '../../../../../src/market/live/sources/sosovalue.ts';
import { yahooDxy, yahooGold, yahooSp500, yahooUs10y, yahooVix } from '../../../../../src/market/live/sources/yahoo.ts';
import type { Observations } from '../../../../../src/market/observations.ts';
import { publishedAt, type SeriesId } from '../../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../../src/market/simulated/feed.ts';
import { macroAnswers } from '../../../../support/provider-data/macro.ts';
import { onchainAnswers } from '../../../../support/provider-data/onchain.ts';
import { sentimentAnswers } from '../../../../support/provider-data/sentiment.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../../support/provider-host.ts';
import { unguarded } from './exchange-support.ts';
import { arrivingAt } from './source-support.ts';

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

const ask = <Told>(source: { provider: SeriesSource['provider']; fetch: SeriesSource['fetch'] | EtfSource['fetch'] }, from: Day, to: Day) =>
  source.fetch(arrivingAt(nowMs, unguarded(source.provider, host.url)), { from, to }) as Promise<Told[]>;

function within({ days, values }: Observations, from: Day, to: Day): [string, number][] {
  return Array.from(days, (day, index): [Day, number] => [day, values[index]])
    .filter(([day]) => day >= from && day <= to)
    .map(([day, value]) => [formatDay(day), value]);
}

interface Case {
  source: SeriesSource;
  series: SeriesId;
  /** Decimals that the provider tells. */
  decimals?: number;
  /** How many days late it tells values. */
  lateDays?: number;
}

const CASES: Record<string, Case> = {
  alternativeMeFearGreed: { source: alternativeMeFearGreed, series: 'fearGreed' },
  yahooDxy: { source: yahooDxy, series: 'dxy' },
  yahooSp500: { source: yahooSp500, series: 'sp500' },
  yahooGold: { source: yahooGold, series: 'gold' },
  yahooVix: { source: yahooVix, series: 'vix' },
  yahooUs10y: { source: yahooUs10y, series: 'us10y' },
  fredSp500: { source: fredSp500, series: 'sp500', decimals: 2 },
  fredVix: { source: fredVix, series: 'vix', decimals: 2 },
  fredUs10y: { source: fredUs10y, series: 'us10y', decimals: 2 },
  fredUs2y: { source: fredUs2y, series: 'us2y', decimals: 2 },
  fredFedFunds: { source: fredFedFunds, series: 'fedFunds', decimals: 2 },
  fredPolicyRate: { source: fredPolicyRate, series: 'policyRate', decimals: 2 },
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
    ])('gives what is final of %s', async (_range, days) => {
      nowMs = atMs;
      const [from, to] = [dayOf(atMs) - days, dayOf(atMs)];
      const told = (await ask<{ day: Day; value: number }>(source, from, to)).toSorted((a, b) => a.day - b.day);
      const final = told.filter(({ day }) => publishedAt(series, day) <= atMs).map(({ day, value }) => [formatDay(day), value]);
      const known = within(await market.observations(series, atMs), from, to - lateDays);
      // A session that goes on in New York has no close yet, though its day is over in UTC.
      const runsLate = atMs === NIGHT && (series === 'dxy' || series === 'gold');
      const expected = runsLate ? known.slice(0, -1) : known;
      expect(final).toEqual(decimals === undefined ? expected : expected.map(([date, value]) => [date, Number(value.toFixed(decimals))]));
      expect(told.every(({ day }) => day >= from && day <= to)).toBe(true);
    });
  });

  it.each(['changed-shape', 'truncated'] as const)('is named under the fault %s', async (fault) => {
    nowMs = AFTERNOON;
    host.fault(source.provider, fault);
    await expect(ask(source, dayOf(nowMs) - 40, dayOf(nowMs))).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining(unguarded(source.provider, host.url).title),
      field: expect.any(String),
    });
  });

  it.each(['empty', 'stale'] as const)('gives nothing recent under the fault %s', async (fault) => {
    nowMs = AFTERNOON;
    host.fault(source.provider, fault);
    const recent = await ask(source, dayOf(nowMs) - 12, dayOf(nowMs)).catch((error: { code: string }) => error.code);
    expect([[], 'FEED_UNAVAILABLE', 'FEED_INVALID']).toContainEqual(recent);
  });
});

interface Flow {
  day: Day;
  totalMusd: number;
  fundsMusd: Record<string, number> | null;
}

const askFlows = async (source: EtfSource, from: Day, to: Day) => (await ask<Flow>(source, from, to)).toSorted((a, b) => a.day - b.day);

const FLOWS: [name: string, source: EtfSource, days: number][] = [
  ['sosovalue', sosovalue(undefined), 290],
  ['bitbo', bitbo, 20],
  ['farside', farside, 900],
];

describe.each(FLOWS)('%s against its provider', (_name, source, days) => {
  afterEach(() => host.heal(source.provider));

  it('gives the flows of the exchange days, the last ones provisional', async () => {
    nowMs = NIGHT;
    const [from, to] = [Math.max(dayOf(nowMs) - days, parseDay('2024-01-11')), dayOf(nowMs)];
    const told = await askFlows(source, from, to);
    const isFinal = ({ day }: Flow) => publishedAt('etfFlow', day) <= nowMs;
    const known = within(await market.observations('etfFlow', nowMs), from, to);
    expect(told.filter(isFinal).map(({ day, totalMusd }) => [formatDay(day), totalMusd])).toEqual(known);
    expect(told.filter((flow) => !isFinal(flow)).map(({ day }) => formatDay(day))).toEqual(['2025-07-15']);
  });

  it('leaves out holidays', async () => {
    nowMs = instantOf(parseDay('2025-07-10'));
    const told = await askFlows(source, parseDay('2025-07-03'), parseDay('2025-07-07'));
    expect(told.map(({ day }) => formatDay(day))).toEqual(['2025-07-03', '2025-07-07']);
  });

  it('is named when its answer has changed', async () => {
    nowMs = AFTERNOON;
    host.fault(source.provider, 'changed-shape');
    await expect(ask(source, dayOf(nowMs) - 10, dayOf(nowMs))).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: expect.stringContaining(unguarded(source.provider, host.url).title),
    });
  });

  it('gives nothing recent when its answer is stale', async () => {
    nowMs = AFTERNOON;
    host.fault(source.provider, 'stale');
    expect(await ask(source, dayOf(nowMs) - 10, dayOf(nowMs))).toEqual([]);
  });
});

describe('single funds', () => {
  it.each([
    ['bitbo', bitbo],
    ['farside', farside],
  ])('are told by %s', async (_name, source) => {
    nowMs = NIGHT;
    const [from, to] = [dayOf(nowMs) - 18, dayOf(nowMs) - 2];
    const told = await askFlows(source, from, to);
    const funds = Object.entries(await market.fundFlows(nowMs));
    for (const [ticker, flows] of funds) {
      const known = within(flows, from, to);
      expect(told.map(({ day }) => formatDay(day))).toEqual(known.map(([date]) => date));
      known.forEach(([, flow], index) => void expect(told[index].fundsMusd![ticker]).toBeCloseTo(flow, 9));
    }
    expect(Object.keys(told[0].fundsMusd!)).toHaveLength(funds.length);
  });

  it('are not told by sosovalue', async () => {
    nowMs = NIGHT;
    const told = await askFlows(sosovalue(undefined), dayOf(nowMs) - 18, dayOf(nowMs));
    expect(new Set(told.map(({ fundsMusd }) => fundsMusd))).toEqual(new Set([null]));
  });
});

describe('an answer that cannot be read', () => {
  it.each([
    ['alternative-me', alternativeMeFearGreed],
    ['farside', farside],
    ['yahoo', yahooSp500],
  ] as const)('is a failure of %s', async (id, source) => {
    nowMs = AFTERNOON;
    host.fault(id, 'changed-shape');
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const timing = { minIntervalMs: 0 };
    const provider = createProviders({ urls: parseProviderUrls(host.providerUrls), log, now: () => nowMs, timing })[id];
    await expect(source.fetch(provider, { from: dayOf(nowMs) - 5, to: dayOf(nowMs) })).rejects.toThrow(provider.title);
    host.heal(id);
    expect(provider.health()).toMatchObject({ calls: 1, failures: 1 });
  });
});
