import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, toInstantMs } from '../../../../src/forecast/day.ts';
import type { Provider } from '../../../../src/market/live/provider.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { binance } from '../../../../src/market/sources/binance.ts';
import { bitstamp } from '../../../../src/market/sources/bitstamp.ts';
import { coinbase } from '../../../../src/market/sources/coinbase.ts';
import { kraken } from '../../../../src/market/sources/kraken.ts';
import type { VenueSource } from '../../../../src/market/sources/source.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { VENUE_FACTORS, venuesAnswers } from '../../../support/provider-data/venues.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createUnguardedProvider, NOW_MS, TODAY } from './test-providers.ts';

const VENUES = [coinbase, kraken, bitstamp, binance];
const range = { from: TODAY - 5, to: TODAY };

describe.each(VENUES)('$provider against its provider', (venue) => {
  const market = openSimulatedFeed({ seed: 2 });
  const factor = VENUE_FACTORS[venue.provider as keyof typeof VENUE_FACTORS];
  let host: ProviderHost;
  const provider = () => createUnguardedProvider(venue.provider, host.url);

  beforeAll(async () => {
    host = await startProviderHost(answersOf(market, [venuesAnswers]), () => NOW_MS);
  });
  afterEach(() => host.heal(venue.provider));
  afterAll(() => host.close());

  it('returns the candles of finished days, once each', async () => {
    const candles = await venue.fetchCandles(provider(), range);
    const known = await market.observations('btcClose', NOW_MS);
    const [highs, lows] = [await market.observations('btcHigh', NOW_MS), await market.observations('btcLow', NOW_MS)];
    const expected = Array.from(known.days.slice(-5), (day, index) => ({
      day,
      closeUsd: expect.closeTo(known.values.at(index - 5)! * factor, 1),
      range: {
        highUsd: expect.closeTo(highs.values.at(index - 5)! * factor, 1),
        lowUsd: expect.closeTo(lows.values.at(index - 5)! * factor, 1),
      },
      isFinished: true,
      providerAtMs: toInstantMs(day + 1),
    }));
    expect(candles.filter(({ isFinished }) => isFinished).toSorted((a, b) => a.day - b.day)).toEqual(expected);
  });

  it('returns a whole page', async () => {
    const days = Math.min(venue.pageDays, 719);
    const closes = await venue.fetchCandles(provider(), { from: TODAY - days, to: TODAY - 1 });
    expect(new Set(closes.map(({ day }) => day)).size).toBe(days);
  });

  it('sends only candle requests', async () => {
    const before = host.requests(venue.provider).length;
    await venue.fetchCandles(provider(), range);
    expect(host.requests(venue.provider).length).toBe(before + 1);
  });

  it('returns the running candle with its range so far', async () => {
    const { highUsd, lowUsd } = (await market.rangeSoFar(NOW_MS))!;
    const range = { highUsd: expect.closeTo(highUsd * factor, 1), lowUsd: expect.closeTo(lowUsd * factor, 1) };
    expect(await venue.fetchCandles(provider(), { from: TODAY, to: TODAY })).toMatchObject([{ day: TODAY, range, isFinished: false }]);
  });

  it('returns the current price', async () => {
    const ticker = await venue.fetchTicker(provider());
    expect(ticker.priceUsd).toBeCloseTo((await market.spot(NOW_MS)).priceUsd * factor, 1);
    if (ticker.providerAtMs !== null) expect(Math.abs(ticker.providerAtMs - NOW_MS)).toBeLessThan(1000);
  });

  it.each(['changed-shape', 'truncated'] as const)('throws FEED_INVALID naming the provider under the fault %s', async (fault) => {
    host.fault(venue.provider, fault);
    const refused = { code: 'FEED_INVALID', message: expect.stringContaining(provider().title), field: expect.any(String) };
    await expect(venue.fetchCandles(provider(), range)).rejects.toMatchObject(refused);
    await expect(venue.fetchTicker(provider())).rejects.toMatchObject(refused);
  });

  it.each(['"moved"', '17', 'null', '[]', '{}'])('throws FEED_INVALID for the response %s', async (body) => {
    const other = await startProviderHost(() => ({ body }));
    const refused = { code: 'FEED_INVALID', message: expect.stringContaining(provider().title) };
    try {
      await expect(venue.fetchTicker(createUnguardedProvider(venue.provider, other.url))).rejects.toMatchObject(refused);
    } finally {
      await other.close();
    }
  });

  it('throws FEED_UNAVAILABLE for an empty list', async () => {
    host.fault(venue.provider, 'empty');
    await expect(venue.fetchCandles(provider(), range)).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });
});

describe('changes over 24 hours', () => {
  const market = openSimulatedFeed({ seed: 2 });
  let host: ProviderHost;
  beforeAll(async () => {
    host = await startProviderHost(answersOf(market, [venuesAnswers]), () => NOW_MS);
  });
  afterAll(() => host.close());

  it.each([
    ['bitstamp', bitstamp],
    ['binance', binance],
  ])('are returned by %s', async (_, venue) => {
    const { change24hPct } = await venue.fetchTicker(createUnguardedProvider(venue.provider, host.url));
    expect(change24hPct).toBeCloseTo((await market.spot(NOW_MS)).change24hPct!, 1);
  });

  it.each([
    ['coinbase', coinbase],
    ['kraken', kraken],
  ])('are null for %s', async (_, venue) => {
    expect((await venue.fetchTicker(createUnguardedProvider(venue.provider, host.url))).change24hPct).toBeNull();
  });
});

interface WireCandle {
  day: number;
  close: string;
  open?: unknown;
  high?: unknown;
  low?: unknown;
}

/** Candles of a venue in its own format; a price may be any text, to test invalid numbers. */
const WIRE: Record<string, (candles: Required<WireCandle>[]) => unknown> = {
  coinbase: (candles) =>
    candles.map(({ day, open, high, low, close }) => [
      toInstantMs(day) / 1000,
      ...[low, high, open, close].map((text) => Number(text) || text),
      7,
    ]),
  kraken: (candles) => ({
    error: [],
    result: {
      XXBTZUSD: candles.map(({ day, open, high, low, close }) => [toInstantMs(day) / 1000, open, high, low, close, '99', '7', 3]),
      last: 1,
    },
  }),
  bitstamp: (candles) => {
    const ohlc = candles.map(({ day, ...prices }) => ({ ...prices, volume: '7', timestamp: String(toInstantMs(day) / 1000) }));
    return { data: { pair: 'BTC/USD', ohlc } };
  },
  binance: (candles) =>
    candles.map(({ day, open, high, low, close }) => [
      ...[toInstantMs(day), open, high, low, close, '7', toInstantMs(day + 1) - 1],
      ...['700', 3, '4', '400', '0'],
    ]),
};

async function candlesFrom(venue: VenueSource, body: unknown, recordProblem: Provider['recordProblem'] = () => {}) {
  const host = await startProviderHost(
    () => ({ body: body as object }),
    () => NOW_MS,
  );
  try {
    return await venue.fetchCandles({ ...createUnguardedProvider(venue.provider, host.url), recordProblem }, range);
  } finally {
    await host.close();
  }
}

const closesFrom = async (venue: VenueSource, body: unknown) => (await candlesFrom(venue, body)).filter(({ isFinished }) => isFinished);

describe.each(VENUES)('the candles of $provider', (venue) => {
  const wire = (...candles: WireCandle[]) =>
    WIRE[venue.provider](candles.map((candle) => ({ open: '100', high: '110', low: '90', ...candle })));
  const known = (...candles: [day: number, close: string][]) => wire(...candles.map(([day, close]) => ({ day, close })));

  it('are parsed with close, high and low', async () => {
    const candles = await candlesFrom(venue, known([TODAY - 2, '101.5'], [TODAY - 1, '102.5'], [TODAY, '103.5']));
    expect(candles.map(({ day, closeUsd, isFinished }) => [day, closeUsd, isFinished])).toEqual([
      [TODAY - 2, 101.5, true],
      [TODAY - 1, 102.5, true],
      [TODAY, 103.5, false],
    ]);
    for (const { range: found } of candles) expect(found).toEqual({ highUsd: 110, lowUsd: 90 });
  });

  it.each(['abc', '', '-5', '0'])('are left out for the close "%s", and throw FEED_INVALID if there is no other', async (close) => {
    const candles = await candlesFrom(venue, known([TODAY - 2, '101.5'], [TODAY - 1, close]));
    expect(candles.map(({ day }) => day)).toEqual([TODAY - 2]);
    await expect(candlesFrom(venue, known([TODAY - 1, close]))).rejects.toMatchObject({ code: 'FEED_INVALID', field: 'candles.0.4' });
  });

  it.each([
    ['a missing high', { high: undefined }],
    ['a high that is null', { high: null }],
    ['a low that is no number', { low: 'abc' }],
    ['a negative low', { low: '-5' }],
    ['an open that is missing', { open: undefined }],
    ['a high below the low', { high: '90', low: '110' }],
    ['a high below the close', { high: '101' }],
    ['a low above the open', { low: '100.5' }],
  ])('keep the close without a range for %s, and report it', async (_, prices) => {
    const problems: [string, string | null][] = [];
    const body = wire({ day: TODAY - 2, close: '101.5' }, { day: TODAY - 1, close: '102.5', ...prices });
    const candles = await candlesFrom(venue, body, (what, problem) => problems.push([what, problem?.message ?? null]));
    expect(candles.map(({ closeUsd, range: found }) => [closeUsd, found?.highUsd])).toEqual([
      [101.5, 110],
      [102.5, undefined],
    ]);
    expect(problems).toEqual([['daily ranges', expect.stringMatching(/: the range of 2026-03-09 is missing or does not fit the candle$/)]]);
  });

  it('end the report of a problem when they are valid again', async () => {
    const problems: unknown[] = [];
    await candlesFrom(venue, known([TODAY - 1, '101.5'], [TODAY, '102.5']), (...problem) => problems.push(problem));
    expect(problems).toEqual([
      ['daily ranges', null],
      ['running range', null],
    ]);
  });

  it('are left out for a date after tomorrow, and throw FEED_INVALID if there is no other', async () => {
    expect(await candlesFrom(venue, known([TODAY - 1, '101.5'], [TODAY + 2, '102.5']))).toMatchObject([{ day: TODAY - 1 }]);
    await expect(candlesFrom(venue, known([TODAY + 2, '102.5']))).rejects.toMatchObject({ code: 'FEED_INVALID', field: 'date' });
  });

  it('throw FEED_INVALID for an open not at 00:00 UTC', async () => {
    await expect(candlesFrom(venue, known([TODAY - 1.5, '101.5']))).rejects.toMatchObject({ code: 'FEED_INVALID', field: 'candles.0.0' });
  });

  it('include a repeated candle once', async () => {
    const candles = await candlesFrom(venue, known([TODAY - 1, '101.5'], [TODAY - 1, '101.5']));
    expect(candles).toMatchObject([{ day: TODAY - 1, closeUsd: 101.5, providerAtMs: TODAY * DAY_MS }]);
    expect(candles).toHaveLength(1);
  });
});

describe('an error of Kraken with status 200', () => {
  it.each([
    ['EService:Unavailable', true],
    ['EQuery:Unknown asset pair', false],
  ])('%s is retryable: %s', async (error, retryable) => {
    await expect(closesFrom(kraken, { error: [error] })).rejects.toMatchObject({ name: 'AttemptError', retryable });
  });

  it('is not a warning beside an answer', async () => {
    const { result } = WIRE.kraken([{ day: TODAY - 1, open: '100', high: '110', low: '90', close: '101.5' }]) as { result: object };
    expect(await closesFrom(kraken, { error: ['WGeneral:Deprecated'], result })).toMatchObject([{ closeUsd: 101.5 }]);
    const failed = closesFrom(kraken, { error: ['WGeneral:Deprecated', 'EService:Unavailable'], result });
    await expect(failed).rejects.toMatchObject({ name: 'AttemptError', retryable: true });
  });
});

describeWithShared('candles as recorded', () => {
  const sample = (name: string) => JSON.parse(readFileSync(sharedPath('data/api-samples', name), 'utf8'));
  const opensAt = (index: number) => (TODAY - 3 + index) * DAY_MS;

  it('parse a recorded Coinbase response', async () => {
    const rows = sample('coinbase_exchange_candles.json').reverse();
    const closes = await closesFrom(
      coinbase,
      rows.map((row: number[], index: number) => [opensAt(index) / 1000, ...row.slice(1)]),
    );
    expect(closes.map(({ closeUsd }) => closeUsd)).toEqual(rows.map((row: number[]) => row[4]));
  });

  it('parse a recorded Kraken response', async () => {
    const rows: unknown[][] = sample('kraken_ohlc.json').result.XETHXXBT;
    const body = { error: [], result: { XXBTZUSD: rows.map((row, index) => [opensAt(index) / 1000, ...row.slice(1)]) } };
    expect((await closesFrom(kraken, body)).map(({ closeUsd }) => closeUsd)).toEqual(rows.map((row) => Number(row[4])));
  });

  it('parse a recorded Bitstamp response', async () => {
    const { pair, ohlc } = sample('bitstamp_ohlc.json').data;
    const body = { data: { pair, ohlc: ohlc.map((row: object, index: number) => ({ ...row, timestamp: String(opensAt(index) / 1000) })) } };
    expect((await closesFrom(bitstamp, body)).map(({ closeUsd }) => closeUsd)).toEqual(
      ohlc.map((row: { close: string }) => Number(row.close)),
    );
  });

  it('parse a recorded Binance response', async () => {
    const rows: unknown[][] = sample('binance_klines.json');
    const closes = await closesFrom(
      binance,
      rows.map((row, index) => [opensAt(index), ...row.slice(1)]),
    );
    expect(closes.map(({ closeUsd }) => closeUsd)).toEqual(rows.map((row) => Number(row[4])));
  });
});
