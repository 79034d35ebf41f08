import { roundTo } from '../../platform/round.ts';
import { isUsExchangeDay } from '../series/us-calendar.ts';
import { FIRST_PRICE_DAY } from './price-path.ts';
import { clamp, drawSeries, type SimulatedSeries } from './simulated-series.ts';

/** Average cost basis: each day, this share of the coins moves at the day's price. */
const createRealizedPrice = (movedPerDay: number): SimulatedSeries => ({
  from: '2010-07-19',
  start(path) {
    let paid = path.close(FIRST_PRICE_DAY) * 0.6;
    return (day) => {
      paid += movedPerDay * (path.close(day) - paid);
      return roundTo(paid, 6);
    };
  },
});

export const MARKET_SERIES = {
  /** Momentum over a month and a quarter minus volatility. The value of day d reads closes up to d-1. */
  fearGreed: drawSeries('2018-02-01', 'fearGreed', (random, path) => {
    let noise = 0;
    return (day) => {
      noise = 0.7 * noise + 4 * random.normal(day);
      if (random.uniform(day) < 0.0015) return Number.NaN;
      const month = Math.tanh(path.logReturn(day - 1, 30) / 0.16);
      const quarter = Math.tanh(path.logReturn(day - 1, 90) / 0.4);
      const turbulence = Math.tanh((path.dailyVolatility(day - 1) - 0.027) / 0.02);
      return clamp(Math.round(49 + 24 * month + 18 * quarter - 8 * turbulence + noise), 4, 97);
    };
  }),
  realizedPrice: createRealizedPrice(0.0045),
  /** Short-term holders turn their coins over within 155 days. */
  sthRealizedPrice: createRealizedPrice(0.015),
  takerBuyFraction: drawSeries('2017-08-17', 'takerBuyFraction', (random, path) => (day) => {
    return roundTo(clamp(0.492 + 0.25 * path.logReturn(day, 1) + 0.008 * random.normal(day), 0.3, 0.7), 4);
  }),
  fundingRate: drawSeries('2020-01-01', 'fundingRate', (random, path) => (day) => {
    return roundTo(0.0001 + 0.0012 * clamp(path.logReturn(day, 7), -0.4, 0.6) + 0.00006 * random.normal(day), 8);
  }),
  openInterest: drawSeries('2019-03-30', 'openInterest', (random, path) => {
    let coins = Math.log(150_000);
    return (day) => {
      coins += 0.0003 * (Math.log(300_000) - coins) + 0.01 * random.normal(day);
      return Math.round(Math.exp(coins) * path.close(day));
    };
  }),
  /** Leveraged longs bid the perpetual above the index, shorts below it. */
  perpBasis: drawSeries('2020-01-01', 'perpBasis', (random, path) => (day) => {
    return roundTo(0.0015 * clamp(path.logReturn(day, 7), -0.4, 0.6) - 0.0001 + 0.00015 * random.normal(day), 6);
  }),
  /** Implied volatility: annualized volatility of the day plus a premium. */
  dvol: drawSeries('2021-03-24', 'dvol', (random, path) => {
    let level = 60;
    return (day) => {
      const yearly = 100 * path.dailyVolatility(day) * Math.sqrt(365);
      level += 0.15 * (1.05 * yearly - level) + 0.8 * random.normal(day);
      return roundTo(Math.max(15, level), 2);
    };
  }),
  /** Follows the week's return, on US exchange days. */
  etfFlow: drawSeries('2024-01-11', 'etfFlow', (random, path) => (day) => {
    if (!isUsExchangeDay(day)) return Number.NaN;
    return roundTo(40 + 700 * Math.tanh(3 * path.logReturn(day, 5)) + 180 * random.fatTailed(day), 1);
  }),
};
