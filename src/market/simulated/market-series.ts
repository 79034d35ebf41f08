import { isUsExchangeDay } from '../series/us-calendar.ts';
import { FIRST_PRICE_DAY } from './price-path.ts';
import { createRandomness } from './random.ts';
import { clamp, roundDecimals, type SimulatedSeries } from './simulated-series.ts';

/** Mood of the crowd: momentum over a month and a quarter against turbulence. Dated d, it knows the closes up to d-1. */
export const fearGreed: SimulatedSeries = {
  from: '2018-02-01',
  start(path, seed) {
    const random = createRandomness(seed, 'fearGreed');
    let noise = 0;
    return (day) => {
      noise = 0.7 * noise + 4 * random.normal(day);
      if (random.uniform(day) < 0.0015) return Number.NaN;
      const month = Math.tanh(path.logReturn(day - 1, 30) / 0.16);
      const quarter = Math.tanh(path.logReturn(day - 1, 90) / 0.4);
      const turbulence = Math.tanh((path.dailyVolatility(day - 1) - 0.027) / 0.02);
      return clamp(Math.round(49 + 24 * month + 18 * quarter - 8 * turbulence + noise), 4, 97);
    };
  },
};

/** What holders paid on average: coins move at the day's price, this share of them each day. */
const createRealizedPrice = (movedEachDay: number): SimulatedSeries => ({
  from: '2010-07-19',
  start(path) {
    let paid = path.close(FIRST_PRICE_DAY) * 0.6;
    return (day) => {
      paid += movedEachDay * (path.close(day) - paid);
      return roundDecimals(paid, 6);
    };
  },
});

export const realizedPrice = createRealizedPrice(0.0045);

/** Coins of short-term holders are bought anew within 155 days. */
export const sthRealizedPrice = createRealizedPrice(0.015);

export const takerBuyFraction: SimulatedSeries = {
  from: '2017-08-17',
  start(path, seed) {
    const random = createRandomness(seed, 'takerBuyFraction');
    return (day) => roundDecimals(clamp(0.492 + 0.25 * path.logReturn(day, 1) + 0.008 * random.normal(day), 0.3, 0.7), 4);
  },
};

export const fundingRate: SimulatedSeries = {
  from: '2020-01-01',
  start(path, seed) {
    const random = createRandomness(seed, 'fundingRate');
    return (day) => roundDecimals(0.0001 + 0.0012 * clamp(path.logReturn(day, 7), -0.4, 0.6) + 0.00006 * random.normal(day), 8);
  },
};

export const openInterest: SimulatedSeries = {
  from: '2019-03-30',
  start(path, seed) {
    const random = createRandomness(seed, 'openInterest');
    let coins = Math.log(150_000);
    return (day) => {
      coins += 0.0003 * (Math.log(300_000) - coins) + 0.01 * random.normal(day);
      return Math.round(Math.exp(coins) * path.close(day));
    };
  },
};

/** Longs who pay for leverage bid the perpetual over the index, shorts under it. */
export const perpBasis: SimulatedSeries = {
  from: '2020-01-01',
  start(path, seed) {
    const random = createRandomness(seed, 'perpBasis');
    return (day) => roundDecimals(0.0015 * clamp(path.logReturn(day, 7), -0.4, 0.6) - 0.0001 + 0.00015 * random.normal(day), 6);
  },
};

/** Implied volatility: what the day's volatility would be over a year, with a premium. */
export const dvol: SimulatedSeries = {
  from: '2021-03-24',
  start(path, seed) {
    const random = createRandomness(seed, 'dvol');
    let level = 60;
    return (day) => {
      const yearly = 100 * path.dailyVolatility(day) * Math.sqrt(365);
      level += 0.15 * (1.05 * yearly - level) + 0.8 * random.normal(day);
      return roundDecimals(Math.max(15, level), 2);
    };
  },
};

/** Funds follow the week's price; they report on exchange days. */
export const etfFlow: SimulatedSeries = {
  from: '2024-01-11',
  start(path, seed) {
    const random = createRandomness(seed, 'etfFlow');
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      return roundDecimals(40 + 700 * Math.tanh(3 * path.logReturn(day, 5)) + 180 * random.fatTailed(day), 1);
    };
  },
};
