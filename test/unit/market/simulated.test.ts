import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import { classifyRegimes, REGIME_NAMES } from '../../../src/forecast/regime.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { createMarket } from '../../../src/market/market.ts';
import { SERIES_IDS } from '../../../src/market/series.ts';
import { createRandomness, DEFAULT_SEED, openSimulatedFeed, type Randomness } from '../../../src/market/simulated.ts';
import { describeFeedContract, describeScheduledFeed } from './feed-contract.ts';

const SEEDS = [DEFAULT_SEED, 11, 12, 13, 14, 15, 16, 17];
const LAST = parseDay('2027-12-31');
const FROM = parseDay('2012-01-01');

async function frameOf(seed: number) {
  return (await createMarket(openSimulatedFeed({ seed })).inputs(LAST, getSignalTimeMs(LAST))).frame;
}

const frames = await Promise.all(SEEDS.map(frameOf));

describe('the simulated market', () => {
  it.each(SEEDS.map((seed, index) => [seed, frames[index]] as const))(
    'passes through every regime from 2012 to 2026 (seed %d)',
    (_, frame) => {
      const regimes = classifyRegimes(computeFeatures(frame));
      const seen = new Set(regimes.slice(FROM - frame.firstDay, parseDay('2027-01-01') - frame.firstDay));
      expect([...seen].toSorted()).toEqual(REGIME_NAMES.toSorted());
    },
  );

  it('has most regimes in each recent year of the default seed', () => {
    const regimes = classifyRegimes(computeFeatures(frames[0]));
    for (const year of [2023, 2024, 2025, 2026, 2027]) {
      const days = regimes.filter((_, row) => formatDay(frames[0].firstDay + row).startsWith(`${year}`));
      expect(new Set(days).size, `${year}`).toBeGreaterThanOrEqual(5);
    }
  });

  it('keeps the price within the order of magnitude of the real one', () => {
    const priceOn = (frame: (typeof frames)[number], date: string) => frame.close[parseDay(date) - frame.firstDay];
    for (const frame of frames) {
      expect(priceOn(frame, '2012-01-01')).toBeGreaterThan(1);
      expect(priceOn(frame, '2012-01-01')).toBeLessThan(25);
      const year = frame.close.slice(parseDay('2026-01-01') - frame.firstDay, parseDay('2027-01-01') - frame.firstDay);
      expect(Math.min(...year)).toBeGreaterThan(15_000);
      expect(Math.max(...year)).toBeLessThan(400_000);
    }
    const recent = frames[0].close.slice(parseDay('2025-06-01') - frames[0].firstDay);
    expect(Math.min(...recent)).toBeGreaterThan(50_000);
    expect(Math.max(...recent)).toBeLessThan(150_000);
  });

  it('has volatility clustering and fat tails', () => {
    for (const { close } of frames) {
      const returns = Array.from(close.subarray(1), (price, index) => Math.log(price / close[index]));
      const absolute = returns.map(Math.abs);
      expect(autocorrelation(absolute, 5)).toBeGreaterThan(0.08);
      expect(kurtosis(returns)).toBeGreaterThan(6);
      expect(Math.max(...absolute)).toBeLessThan(0.6);
    }
  });

  it('gives no rule on past prices an edge over always predicting up', () => {
    const rules: ((close: Float64Array, row: number) => boolean)[] = [
      (close, row) => close[row] > close[row - 1],
      (close, row) => close[row] > close[row - 7],
      (close, row) => close[row] > close[row - 30],
      (close, row) => close[row] > close[row - 200],
    ];
    for (const rule of [
      ...rules,
      ...rules.map(
        (follow): (typeof rules)[number] =>
          (close, row) =>
            !follow(close, row),
      ),
    ]) {
      let [right, up, count] = [0, 0, 0];
      for (const frame of frames) {
        for (let row = FROM - frame.firstDay; row + 7 < frame.close.length; row++, count++) {
          const rose = frame.close[row + 7] > frame.close[row];
          if (rose) up++;
          if (rose === rule(frame.close, row)) right++;
        }
      }
      expect(right / count).toBeLessThan(up / count);
    }
  });

  it('has no autocorrelation of daily returns', () => {
    for (const { close } of frames) {
      const returns = Array.from(close.subarray(1), (price, index) => Math.log(price / close[index]));
      for (const lag of [1, 2, 7]) expect(Math.abs(autocorrelation(returns, lag))).toBeLessThan(0.06);
    }
  });
});

function autocorrelation(values: number[], lag: number): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  let [shared, variance] = [0, 0];
  values.forEach((x, i) => {
    variance += (x - mean) ** 2;
    if (i >= lag) shared += (x - mean) * (values[i - lag] - mean);
  });
  return shared / variance;
}

function kurtosis(values: number[]): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const power = (k: number) => values.reduce((sum, x) => sum + (x - mean) ** k, 0) / values.length;
  return power(4) / power(2) ** 2;
}
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
const COUNT = 40_000;
const { uniform, normal, fatTailed } = createRandomness(3, 'test');

function moments(draw: (day: number) => number) {
  const values = Array.from({ length: COUNT }, (_, day) => draw(day));
  const mean = values.reduce((sum, x) => sum + x, 0) / COUNT;
  const power = (k: number) => values.reduce((sum, x) => sum + (x - mean) ** k, 0) / COUNT;
  return { mean, variance: power(2), kurtosis: power(4) / power(2) ** 2 };
}

describe('createRandomness', () => {
  it('draws uniform numbers', () => {
    const { mean, variance } = moments(uniform);
    expect(mean).toBeCloseTo(0.5, 2);
    expect(variance).toBeCloseTo(1 / 12, 2);
  });

  it('draws normal numbers', () => {
    const { mean, variance, kurtosis } = moments(normal);
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(variance - 1)).toBeLessThan(0.03);
    expect(Math.abs(kurtosis - 3)).toBeLessThan(0.15);
  });

  it('draws fat-tailed numbers of unit variance', () => {
    const { mean, variance, kurtosis } = moments(fatTailed);
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(variance - 0.95)).toBeLessThan(0.05);
    expect(kurtosis).toBeGreaterThan(5);
  });

  it('separates days, draws, seeds and streams', () => {
    const correlation = (a: (day: number) => number, b: (day: number) => number) => {
      let sum = 0;
      for (let day = 0; day < COUNT; day++) sum += a(day) * b(day);
      return Math.abs(sum / COUNT);
    };
    const others: Randomness[] = [createRandomness(4, 'test'), createRandomness(3, 'tesu')];
    for (const other of others) expect(correlation(normal, (day) => other.normal(day))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => normal(day + 1))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => normal(day, 1))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => fatTailed(day))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => uniform(day) - 0.5)).toBeLessThan(0.02);
  });
});
