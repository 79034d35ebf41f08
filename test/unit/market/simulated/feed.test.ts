import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import { SERIES_IDS } from '../../../../src/market/series.ts';
import { DEFAULT_SEED, openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { describeFeedContract, describeScheduledFeed } from '../feed-contract.ts';

const DAY = parseDay('2024-03-13');
const instant = fc.integer({ min: toInstantMs(parseDay('2010-07-20')), max: toInstantMs(parseDay('2031-01-01')) });

describeFeedContract('the simulated feed', async () => openSimulatedFeed({ seed: 5 }), DAY);
describeScheduledFeed('the simulated feed', async () => openSimulatedFeed({ seed: 5 }), DAY);

describe('openSimulatedFeed', () => {
  it('returns the same values in any order of queries', async () => {
    const one = openSimulatedFeed({ seed: 11 });
    const property = fc.asyncProperty(
      fc.array(instant, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...SERIES_IDS),
      async (instants, id) => {
        const fresh = openSimulatedFeed({ seed: 11 });
        for (const atMs of instants) {
          expect(await fresh.observations(id, atMs)).toEqual(await one.observations(id, atMs));
          expect(await fresh.spot(atMs)).toEqual(await one.spot(atMs));
        }
      },
    );
    await fc.assert(property, { numRuns: 15 });
  });

  it('extends earlier results and never revises them', async () => {
    const feed = openSimulatedFeed({ seed: 12 });
    const property = fc.asyncProperty(instant, instant, fc.constantFrom(...SERIES_IDS), async (a, b, id) => {
      const early = await feed.observations(id, Math.min(a, b));
      const late = await feed.observations(id, Math.max(a, b));
      expect(late.values.subarray(0, early.values.length)).toEqual(early.values);
      expect(late.days.subarray(0, early.days.length)).toEqual(early.days);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  it('starts each series near the start of the real one', async () => {
    const feed = openSimulatedFeed();
    const first = async (id: (typeof SERIES_IDS)[number]) => (await feed.observations(id, toInstantMs(DAY))).days[0];
    expect(await first('btcClose')).toBe(parseDay('2010-07-18'));
    expect(await first('fearGreed')).toBe(parseDay('2018-02-01'));
    expect(await first('etfFlow')).toBe(parseDay('2024-01-11'));
    expect(await first('fundingRate')).toBe(parseDay('2020-01-01'));
    expect(await first('sp500')).toBe(parseDay('2009-06-01'));
  });

  it('keeps every value in its plausible range', async () => {
    const bounds = {
      btcHigh: [0.001, 2e6],
      btcLow: [0.001, 2e6],
      btcClose: [0.01, 2e6],
      fearGreed: [0, 100],
      realizedPrice: [0.01, 2e6],
      sthRealizedPrice: [0.01, 2e6],
      takerBuyFraction: [0.3, 0.7],
      fundingRate: [-0.005, 0.005],
      openInterest: [1e6, 1e12],
      perpBasis: [-0.005, 0.005],
      dvol: [15, 250],
      etfFlow: [-3000, 3000],
      sp500: [500, 40_000],
      dxy: [60, 150],
      gold: [500, 20_000],
      vix: [9, 85],
      us2y: [0.05, 8],
      us10y: [0.4, 8],
      fedFunds: [0, 7],
      policyRate: [0.25, 7],
      pmi: [38, 65],
    };
    for (const seed of [1, 2, 3]) {
      const feed = openSimulatedFeed({ seed });
      for (const id of SERIES_IDS) {
        const { values } = await feed.observations(id, toInstantMs(parseDay('2032-01-01')));
        expect(Math.min(...values), id).toBeGreaterThanOrEqual(bounds[id][0]);
        expect(Math.max(...values), id).toBeLessThanOrEqual(bounds[id][1]);
      }
    }
  });

  it('throws before its first day', async () => {
    const feed = openSimulatedFeed();
    const first = parseDay('2010-07-18');
    await expect(feed.spot(toInstantMs(first) - 1)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    await expect(feed.spot(toInstantMs(first))).resolves.toMatchObject({ change24hPct: null });
    expect(await feed.dailyCloses(first - 1, toInstantMs(first))).toEqual([
      { venue: `simulated (seed ${DEFAULT_SEED})`, priceUsd: null, reason: 'the simulation begins on 2010-07-18' },
    ]);
  });
});

describe('simulated prices', () => {
  const feed = openSimulatedFeed();

  it('equal the previous close at midnight', async () => {
    const { days, values } = await feed.observations('btcClose', toInstantMs(DAY));
    expect((await feed.spot(toInstantMs(DAY))).priceUsd).toBe(values[days.indexOf(DAY - 1)]);
  });

  it('change by the minute and end at the close', async () => {
    const [close] = (await feed.observations('btcClose', toInstantMs(DAY + 1))).values.slice(-1);
    const prices = await Promise.all([0, 6, 12, 18].map((hour) => feed.spot(toInstantMs(DAY, hour, 30))));
    expect(new Set(prices.map((price) => price.priceUsd)).size).toBe(4);
    expect((await feed.spot(toInstantMs(DAY, 23, 59))).priceUsd / close).toBeCloseTo(1, 1);
    expect(await feed.spot(toInstantMs(DAY, 6, 30) + 59_999)).toEqual(prices[1]);
  });

  it('differ between signal time and close by less than a daily move', async () => {
    let squares = 0;
    for (let day = DAY; day < DAY + 200; day++) {
      const signal = (await feed.spot(getSignalTimeMs(day))).priceUsd;
      const close = (await feed.spot(toInstantMs(day + 1))).priceUsd;
      expect(signal).not.toBe(close);
      squares += Math.log(close / signal) ** 2;
    }
    expect(Math.sqrt(squares / 200)).toBeGreaterThan(0.002);
    expect(Math.sqrt(squares / 200)).toBeLessThan(0.02);
  });

  it('have three venue closes around their median', async () => {
    for (let day = DAY; day < DAY + 300; day++) {
      const closes = (await feed.dailyCloses(day, toInstantMs(day + 1))).map((close) => close.priceUsd!).toSorted((a, b) => a - b);
      expect(closes[1]).toBe((await feed.spot(toInstantMs(day + 1))).priceUsd);
      expect(Math.max(1 - closes[0] / closes[1], closes[2] / closes[1] - 1)).toBeLessThan(0.0041);
    }
  });
});

describe('simulated rates', () => {
  it('follow one policy rate', async () => {
    const feed = openSimulatedFeed();
    const target = await feed.observations('policyRate', toInstantMs(DAY));
    const effective = await feed.observations('fedFunds', toInstantMs(DAY));
    for (let i = 0; i < effective.days.length; i++) expect(effective.values[i]).toBeCloseTo(target.values[i] - 0.12, 9);
    expect(new Set(target.values).size).toBeGreaterThan(5);
  });
});

describe('simulated fund flows', () => {
  const AT = toInstantMs(parseDay('2026-02-20'));

  it('sum to the daily total in steps of 0.1', async () => {
    const feed = openSimulatedFeed();
    const total = await feed.observations('etfFlow', AT);
    const funds = Object.values(await feed.fundFlows(AT));
    expect(funds.length).toBeGreaterThan(9);
    for (const { days, values } of funds) {
      expect(days).toEqual(total.days);
      for (const value of values) expect(Math.round(value * 10) / 10).toBe(value);
    }
    for (let i = 0; i < total.days.length; i++) {
      const tenths = funds.reduce((sum, { values }) => sum + Math.round(values[i] * 10), 0);
      if (tenths !== Math.round(total.values[i] * 10)) expect.fail(`day ${total.days[i]}: ${tenths / 10} instead of ${total.values[i]}`);
    }
  });

  it('are independent of earlier queries and not empty', async () => {
    const [patient, hasty] = [openSimulatedFeed({ seed: 4 }), openSimulatedFeed({ seed: 4 })];
    await hasty.fundFlows(AT);
    const early = await hasty.fundFlows(AT - 200 * 86_400_000);
    expect(early).toEqual(await patient.fundFlows(AT - 200 * 86_400_000));
    expect(await patient.fundFlows(AT)).toEqual(await hasty.fundFlows(AT));
    for (const { values } of Object.values(early)) expect(new Set(values).size).toBeGreaterThan(20);
  });

  it('are empty before the funds existed', async () => {
    const flows = await openSimulatedFeed().fundFlows(toInstantMs(parseDay('2020-01-01')));
    expect(Object.values(flows).every(({ days }) => days.length === 0)).toBe(true);
  });
});
