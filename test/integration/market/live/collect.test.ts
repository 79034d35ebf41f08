import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { HOUR_MS, MINUTE_MS, parseDay, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { createClosesPoll, createEtfPoll, createSeriesPoll, createSpotPoll, type Poll } from '../../../../src/market/live/collect.ts';
import { type BackfillDeps, runDuePolls } from '../../../../src/market/live/live-market.ts';
import { openLiveFeed } from '../../../../src/market/live/store.ts';
import { createMarket } from '../../../../src/market/market.ts';
import type { EtfSource } from '../../../../src/market/sources/source.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { createLiveDeps, createScriptedSource, createScriptedVenue } from './live-deps.ts';

const VENUES = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const;
const DAY = parseDay('2026-03-10');

/** Holds the engine while the tests come and go. */
const engine = await testDatabase();
afterAll(() => engine.drop());

type Setup = Awaited<ReturnType<typeof createLiveDeps>>;
let setup: Setup;
let parts: BackfillDeps;

beforeEach(async () => {
  setup = await createLiveDeps([...VENUES]);
  parts = setup.parts();
});
afterEach(() => setup.database.drop());

const run = (...polls: Poll[]) => runDuePolls(polls, { polls: parts.stores.polls, log: setup.log, now: setup.now });
const messages = () => setup.lines.map(({ msg, feed }) => `${feed}: ${msg}`);
const feed = () => openLiveFeed(parts.stores, VENUES);

describe('a poll', () => {
  const counting = (ran: string[], fail: () => boolean = () => false): Poll => ({
    id: 'counted',
    everyMs: HOUR_MS,
    retryMs: MINUTE_MS,
    async run() {
      ran.push('run');
      if (fail()) throw new OracleError('FEED_UNAVAILABLE', 'no response');
      return undefined;
    },
  });

  it('runs once for any number of workers, and again when due', async () => {
    const ran: string[] = [];
    setup.clock.ms = toInstantMs(DAY);
    const workers = Array.from({ length: 8 }, () => counting(ran));
    await run(...workers);
    expect(ran).toHaveLength(1);
    setup.clock.ms += HOUR_MS - 1;
    await run(...workers);
    expect(ran).toHaveLength(1);
    setup.clock.ms += 1;
    await run(...workers);
    expect(ran).toHaveLength(2);
  });

  it('backs off on failures and logs failure and recovery once', async () => {
    const ran: string[] = [];
    let failing = true;
    const poll = counting(ran, () => failing);
    for (setup.clock.ms = toInstantMs(DAY); setup.clock.ms < toInstantMs(DAY, 1); setup.clock.ms += MINUTE_MS) await run(poll);
    // At 0, 1, 3, 7, 15 and 31 minutes.
    expect(ran).toHaveLength(6);
    expect(messages()).toEqual(['counted: feed failed: what is known of it stays']);
    failing = false;
    setup.clock.ms = toInstantMs(DAY, 2);
    await run(poll);
    expect(messages()).toEqual(['counted: feed failed: what is known of it stays', 'counted: feed is back']);
  });

  it('is taken over from a dead worker after its lease', async () => {
    setup.clock.ms = toInstantMs(DAY);
    expect(await parts.stores.polls.claim('counted', setup.clock.ms, { leaseMs: 5 * MINUTE_MS, maxWaitMs: HOUR_MS })).toBe(true);
    const ran: string[] = [];
    await run(counting(ran));
    setup.clock.ms += 5 * MINUTE_MS;
    await run(counting(ran));
    expect(ran).toHaveLength(1);
  });
});

describe('a series', () => {
  const plan = () => {
    const primary = createScriptedSource('yahoo', (day) => (day < DAY ? day : null));
    const fallback = createScriptedSource('fred', (day) => (day < DAY ? day + 0.5 : null));
    return { primary, fallback, poll: createSeriesPoll('sp500', { sources: [primary, fallback], everyMs: HOUR_MS }, parts) };
  };
  const last = async () => {
    const { source, values } = await feed().observations('sp500', setup.clock.ms);
    return [source, values.at(-1)];
  };

  it('comes from its primary without a request to the fallback', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const { poll, fallback } = plan();
    await run(poll);
    expect(await last()).toEqual(['yahoo', DAY - 1]);
    expect(fallback.asked).toEqual([]);
  });

  it('comes from the fallback while the primary fails', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const { poll, primary } = plan();
    primary.failure = 'HTTP 451';
    await run(poll);
    expect(await last()).toEqual(['fred', DAY - 0.5]);
    expect(setup.lines).toEqual([]);
  });

  it('comes from the fallback while the primary is stale, and stores both', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const { poll, primary } = plan();
    primary.getValue = (day) => (day < DAY - 8 ? day : null);
    await run(poll);
    expect(await last()).toEqual(['fred', DAY - 0.5]);
    expect((await parts.stores.observationCache.getHistory('sp500')).getLastFinalDay('yahoo')).toBe(DAY - 9);
  });

  it('keeps its last good value, marked stale, when no provider responds', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const { poll, primary, fallback } = plan();
    await run(poll);
    primary.failure = fallback.failure = 'down';
    for (let hours = 0; hours < 24 * 12; hours++, setup.clock.ms += HOUR_MS) await run(poll);
    expect(await last()).toEqual(['yahoo', DAY - 1]);
    expect(messages()).toEqual(['sp500: feed failed: what is known of it stays']);
    const { series } = await createMarket(feed()).health(setup.clock.ms);
    expect(series.find((entry) => entry.series === 'sp500')).toMatchObject({ stale: true, ageDays: 13 });
  });

  it('fetches the values missed during an outage', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const { poll, primary } = plan();
    await run(poll);
    setup.clock.ms = toInstantMs(DAY + 40, 9);
    primary.getValue = (day) => (day < DAY + 40 ? day : null);
    await run(poll);
    const { days } = await feed().observations('sp500', setup.clock.ms);
    expect([...days].slice(-45)).toEqual(Array.from({ length: 45 }, (_, index) => DAY + 40 - 45 + index));
  });
});

describe('ETF flows', () => {
  it('are stored as total and by fund; revisions do not change first versions', async () => {
    let flow = 10;
    const source: EtfSource = {
      provider: 'farside',
      history: { from: '2024-01-11' },
      fetch: async () => [{ day: DAY, totalMusd: flow + 5, fundsMusd: { IBIT: flow, FBTC: 5 } }],
    };
    const poll = createEtfPoll({ id: 'etfFlow', sources: [source], everyMs: HOUR_MS }, parts);
    const totals = async (atMs: number) => [...(await feed().observations('etfFlow', atMs)).values];
    const shown = async (atMs: number) => (await feed().observations('etfFlow', atMs, 'latest')).values.at(-1);
    setup.clock.ms = toInstantMs(DAY, 22);
    await run(poll);
    expect([await totals(setup.clock.ms), await shown(setup.clock.ms)]).toEqual([[], 15]);

    const finalMs = toInstantMs(DAY + 1, 13);
    setup.clock.ms = finalMs;
    await run(poll);
    flow = 20;
    setup.clock.ms = toInstantMs(DAY + 1, 15);
    await run(poll);
    expect([await totals(setup.clock.ms), await shown(setup.clock.ms)]).toEqual([[15], 25]);
    expect([await totals(finalMs), await shown(finalMs)]).toEqual([[15], 15]);
    const funds = await feed().fundFlows(setup.clock.ms);
    expect(Object.fromEntries(Object.entries(funds).map(([ticker, { values }]) => [ticker, values[0]]))).toEqual({ IBIT: 20, FBTC: 5 });
  });
});

describe('flows of single funds', () => {
  /** Every day up to yesterday. */
  const flowSource = (provider: EtfSource['provider'], totalMusd: number, fundsMusd: (day: number) => Record<string, number> | null) => {
    const source = { asked: 0, hasValue: (day: number) => day < toDay(setup.clock.ms), totalMusd };
    const fetch: EtfSource['fetch'] = async (_provider, { from, to }) => {
      source.asked += 1;
      const days = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((day) => source.hasValue(day));
      return days.map((day) => ({ day, totalMusd: source.totalMusd, fundsMusd: fundsMusd(day) }));
    };
    return Object.assign(source, { provider, history: { from: '2024-01-11' }, fetch });
  };
  const perFund = (day: number) => ({ IBIT: day, FBTC: -1 });
  const setUp = () => {
    const primary = flowSource('sosovalue', 100, () => null);
    const second = flowSource('bitbo', 90, perFund);
    const third = flowSource('farside', 80, (day) => ({ ...perFund(day), GBTC: 1 }));
    const polls = [
      createEtfPoll({ id: 'etfFlow', sources: [primary, second, third], everyMs: HOUR_MS }, parts),
      createEtfPoll({ id: 'fundFlows', sources: [second, third], everyMs: 6 * HOUR_MS }, parts),
    ];
    return { primary, second, third, polls };
  };
  const collectFor = async (hours: number, polls: Poll[]) => {
    for (let hour = 0; hour < hours; hour++, setup.clock.ms += HOUR_MS) await run(...polls);
  };
  const lastDays = async () =>
    Object.fromEntries(Object.entries(await feed().fundFlows(setup.clock.ms)).map(([ticker, { days }]) => [ticker, days.at(-1)]));

  it('come from the second source while the primary has totals only', async () => {
    setup.clock.ms = toInstantMs(DAY, 13);
    const { primary, second, third, polls } = setUp();
    for (let day = DAY; day < DAY + 5; day++) {
      await collectFor(24, polls);
      expect(await lastDays()).toEqual({ IBIT: day, FBTC: day });
    }
    const { source, values } = await feed().observations('etfFlow', setup.clock.ms, 'latest');
    expect([source, new Set(values)]).toEqual(['sosovalue', new Set([100])]);
    expect(primary.asked).toBeGreaterThan(5 * 23);
    // Every six hours, and when figures become final.
    expect(second.asked).toBeLessThanOrEqual(5 * 5 + 1);
    expect(third.asked).toBe(0);
    expect(setup.lines).toEqual([]);
  });

  it('come from the next source that has them, and resume after an outage', async () => {
    setup.clock.ms = toInstantMs(DAY, 13);
    const { second, third, polls } = setUp();
    await collectFor(1, polls);
    second.hasValue = () => false;
    third.hasValue = () => false;
    await collectFor(24 * 15, polls);
    expect(await lastDays()).toEqual({ IBIT: DAY - 1, FBTC: DAY - 1 });
    expect(messages()).toEqual(['fundFlows: feed failed: what is known of it stays']);
    third.hasValue = (day) => day < toDay(setup.clock.ms);
    await collectFor(7, polls);
    const { IBIT } = await feed().fundFlows(setup.clock.ms);
    expect([...IBIT.days].slice(-25)).toEqual(Array.from({ length: 25 }, (_, index) => DAY + 15 - 25 + index));
    expect(messages().at(-1)).toBe('fundFlows: feed is back');
  });
});

describe('the daily closes', () => {
  const offsets = { coinbase: 0, kraken: 1, bitstamp: -1, binance: 2 };
  const priceOf = (day: number) => 80_000 + day - DAY;
  const venues = () =>
    VENUES.map((id) =>
      createScriptedVenue(id, (day) => (setup.clock.ms >= toInstantMs(day + 1) ? priceOf(day) + offsets[id] : null), { days: 700 }),
    );
  const agreed = async () => {
    const { days, values } = await feed().observations('btcClose', Number.MAX_SAFE_INTEGER);
    return [days.at(-1), values.at(-1)];
  };
  /** A record of closes up to two days ago. */
  const begin = async () => {
    setup.clock.ms = toInstantMs(DAY, 1);
    const value = { day: DAY - 2, value: priceOf(DAY - 2), providerAtMs: null };
    await parts.stores.observations.save('btcClose', 'venues', [value], { receivedAtMs: setup.clock.ms, backfilled: true });
  };

  it('are the median of three agreeing venues', async () => {
    await begin();
    const four = venues();
    four[2].getClose = () => null;
    await run(createClosesPoll(four, parts));
    expect(await agreed()).toEqual([DAY - 1, priceOf(DAY - 1) + 1]);
  });

  it('exclude an outlier among four venues', async () => {
    await begin();
    const four = venues();
    four[0].getClose = (day) => priceOf(day) * 1.4;
    await run(createClosesPoll(four, parts));
    expect(await agreed()).toEqual([DAY - 1, priceOf(DAY - 1) + 1]);
  });

  it('wait for a third venue and continue with it', async () => {
    await begin();
    const four = venues();
    for (const venue of four.slice(2)) venue.getClose = () => null;
    const poll = createClosesPoll(four, parts);
    await run(poll);
    expect((await agreed())[0]).toBe(DAY - 2);
    const market = createMarket(feed(), { pinClose: (close) => parts.stores.closes.pin(close) });
    await expect(market.dailyClose(DAY - 1, setup.clock.ms)).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
      message: expect.stringMatching(/2 of the required 3 venues.*Bitstamp/),
    });
    four[2].getClose = venues()[2].getClose;
    setup.clock.ms += MINUTE_MS;
    await run(poll);
    expect(await agreed()).toEqual([DAY - 1, priceOf(DAY - 1)]);
    expect(await market.dailyClose(DAY - 1, setup.clock.ms)).toMatchObject({ priceUsd: priceOf(DAY - 1), venues: VENUES.slice(0, 3) });
  });

  it('use available venues for the model at 20:00 of the next day while outcomes wait', async () => {
    await begin();
    const four = venues();
    for (const venue of four.slice(1)) venue.getClose = () => null;
    const poll = createClosesPoll(four, parts);
    setup.clock.ms = toInstantMs(DAY, 19);
    await run(poll);
    expect((await agreed())[0]).toBe(DAY - 2);
    setup.clock.ms = toInstantMs(DAY, 20);
    await run(poll);
    expect(await agreed()).toEqual([DAY - 1, priceOf(DAY - 1)]);
    await expect(createMarket(feed()).dailyClose(DAY - 1, setup.clock.ms)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
  });

  it('are pinned once agreed, despite late venues', async () => {
    await begin();
    const four = venues();
    four[3].getClose = () => null;
    const poll = createClosesPoll(four, parts);
    await run(poll);
    const close = async () =>
      createMarket(feed(), { pinClose: (found) => parts.stores.closes.pin(found) }).dailyClose(DAY - 1, setup.clock.ms);
    const before = await close();
    four[3].getClose = (day) => priceOf(day) + 300;
    setup.clock.ms = toInstantMs(DAY, 3);
    await run(poll);
    expect((await feed().dailyCloses(DAY - 1, setup.clock.ms)).filter(({ priceUsd }) => priceUsd !== null)).toHaveLength(4);
    expect(await close()).toEqual(before);
    expect(await agreed()).toEqual([DAY - 1, before.priceUsd]);
  });

  it('are complete after the first poll with slow responses', async () => {
    await begin();
    const slow = venues().map((venue) => {
      const { getClose: closeOf } = venue;
      venue.getClose = (day) => {
        setup.clock.ms += 20;
        return closeOf(day);
      };
      return venue;
    });
    await run(createClosesPoll(slow, parts));
    expect((await agreed())[0]).toBe(DAY - 1);
    expect(setup.lines).toEqual([]);
  });

  it('are not read from a venue with clock skew', async () => {
    await begin();
    for (const venue of ['coinbase', 'kraken'] as const) setup.skewMs[venue] = -45_000;
    await run(createClosesPoll(venues(), parts));
    expect((await agreed())[0]).toBe(DAY - 2);
    expect((await feed().dailyCloses(DAY - 1, setup.clock.ms)).map(({ priceUsd }) => priceUsd === null)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    setup.skewMs.kraken = 1_000;
    setup.clock.ms += MINUTE_MS;
    await run(createClosesPoll(venues(), parts));
    expect((await agreed())[0]).toBe(DAY - 1);
  });

  it('catch up day by day after an outage', async () => {
    await begin();
    setup.clock.ms = toInstantMs(DAY + 60, 1);
    await run(createClosesPoll(venues(), parts));
    const { days } = await feed().observations('btcClose', setup.clock.ms);
    expect([...days]).toEqual(Array.from({ length: 62 }, (_, index) => DAY - 2 + index));
  });
});

describe('spot price', () => {
  const venues = (...prices: (number | null)[]) =>
    VENUES.map((id, index) => {
      const venue = createScriptedVenue(id, () => null, { days: 1 });
      const price = prices[index];
      venue.price = price == null ? null : { priceUsd: price, providerAtMs: setup.clock.ms - 1_000 };
      return venue;
    });
  const poll = (four: ReturnType<typeof venues>) => createSpotPoll(four, parts);

  it('is the median of the responding venues without outliers', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    await run(poll(venues(80_000, 80_010, 80_020, 95_000)));
    expect(await feed().spot(setup.clock.ms)).toMatchObject({
      priceUsd: 80_010,
      observedAtMs: setup.clock.ms - 1_000,
      source: 'median of coinbase, kraken, bitstamp',
      change24hPct: 1,
    });
  });

  it.each([
    ['two venues', [80_000, 80_010]],
    ['two that disagree by 10 %', [80_000, 88_000]],
    ['three that all differ', [80_000, 88_000, 96_000]],
    ['two against two', [80_000, 80_010, 88_000, 88_010]],
    ['one', [null, null, null, 80_000]],
  ])('waits with %s, and names the price and age of each', async (_, prices) => {
    setup.clock.ms = toInstantMs(DAY, 9);
    await run(poll(venues(80_000, 80_010, 80_020)));
    setup.clock.ms += MINUTE_MS;
    await run(poll(venues(...prices)));
    expect((await feed().spot(setup.clock.ms)).priceUsd).toBe(80_010);
    const { error } = (await parts.stores.polls.find('spot'))!;
    expect(error).toContain('the price waits for 3 venues within 1 %');
    for (const [index, price] of prices.entries()) if (price !== null) expect(error).toContain(`${VENUES[index]} ${price} USD, 1 s old`);
  });

  it('excludes stale prices and clocks that run ahead', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    const four = venues(80_000, 80_010, 80_020, 80_030);
    four[0].price!.providerAtMs = setup.clock.ms - 6 * MINUTE_MS;
    await run(poll(four));
    expect(await feed().spot(setup.clock.ms)).toMatchObject({ priceUsd: 80_020, source: 'median of kraken, bitstamp, binance' });
    setup.clock.ms += MINUTE_MS;
    const three = venues(81_000, 81_010, 81_020);
    three[1].price!.providerAtMs = setup.clock.ms + 3 * MINUTE_MS;
    await run(poll(three));
    expect((await feed().spot(setup.clock.ms)).priceUsd).toBe(80_020);
  });

  it('keeps the last price with its age without venues, and becomes unavailable when stale', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    await run(poll(venues(80_000, 80_010, 80_020)));
    setup.clock.ms += 16 * MINUTE_MS;
    await run(poll(venues(null, null, null)));
    expect(await feed().spot(setup.clock.ms)).toMatchObject({ priceUsd: 80_010, observedAtMs: toInstantMs(DAY, 9) - 1_000 });
    await expect(createMarket(feed()).spot(setup.clock.ms)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    expect(messages()).toEqual(['spot: feed failed: what is known of it stays']);
  });

  it('of an earlier instant is the price known then', async () => {
    setup.clock.ms = toInstantMs(DAY, 9);
    await run(poll(venues(80_000, 80_010, 80_020)));
    setup.clock.ms += 5 * MINUTE_MS;
    await run(poll(venues(90_000, 90_010, 90_020)));
    expect((await feed().spot(setup.clock.ms - MINUTE_MS)).priceUsd).toBe(80_010);
  });
});
