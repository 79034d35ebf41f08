import { type Day, parseDay } from '../../forecast/day.ts';
import { isFirstUsExchangeDayOfMonth, isTradingDay, isUsExchangeDay } from '../series/us-calendar.ts';
import type { PricePath } from './price-path.ts';
import { createRandomness } from './random.ts';
import { clamp, roundDecimals, type SimulatedSeries } from './simulated-series.ts';

const FIRST_DATE = '2009-06-01';

interface DriftingPriceOptions {
  stream: string;
  /** Level on the first day, and its growth a year (log). */
  start: number;
  growth: number;
  /** Standard deviation of a trading day. */
  volatility: number;
  /** Share of its distance from trend that it gives up each trading day. */
  reversion: number;
  /** Correlation with Bitcoin's return of the same day. */
  correlation: number;
  decimals: number;
  isOpen: (day: Day) => boolean;
}

/** A price around a growing trend that moves together with Bitcoin, never ahead of it. */
function createDriftingPrice(rule: DriftingPriceOptions): SimulatedSeries {
  return {
    from: FIRST_DATE,
    start(path, seed) {
      const random = createRandomness(seed, rule.stream);
      const own = Math.sqrt(1 - rule.correlation ** 2);
      let distance = 0;
      return (day) => {
        if (!rule.isOpen(day)) return Number.NaN;
        const shock = rule.correlation * computeBitcoinShock(path, day) + own * random.fatTailed(day);
        distance += rule.volatility * shock - rule.reversion * distance;
        const years = (day - parseDay(FIRST_DATE)) / 365.25;
        return roundDecimals(rule.start * Math.exp(rule.growth * years + distance), rule.decimals);
      };
    },
  };
}

/** The day's Bitcoin return in units of its volatility. */
function computeBitcoinShock(path: PricePath, day: Day): number {
  return clamp(path.logReturn(day, 1) / path.dailyVolatility(day), -4, 4);
}

export const sp500 = createDriftingPrice({
  stream: 'sp500',
  start: 940,
  growth: 0.122,
  volatility: 0.0105,
  reversion: 0.003,
  correlation: 0.3,
  decimals: 2,
  isOpen: isUsExchangeDay,
});

export const dxy = createDriftingPrice({
  stream: 'dxy',
  start: 92,
  growth: 0.003,
  volatility: 0.0043,
  reversion: 0.003,
  correlation: -0.15,
  decimals: 3,
  isOpen: isTradingDay,
});

export const gold = createDriftingPrice({
  stream: 'gold',
  start: 980,
  growth: 0.085,
  volatility: 0.0098,
  reversion: 0.002,
  correlation: 0.1,
  decimals: 1,
  isOpen: isTradingDay,
});

/** Rises when Bitcoin, and with it the stock market, falls. */
export const vix: SimulatedSeries = {
  from: FIRST_DATE,
  start(path, seed) {
    const random = createRandomness(seed, 'vix');
    let distance = 0;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      distance += -0.04 * distance + 0.06 * random.fatTailed(day) - 0.015 * computeBitcoinShock(path, day);
      return roundDecimals(clamp(17.5 * Math.exp(distance), 9, 85), 2);
    };
  },
};

export const us10y: SimulatedSeries = {
  from: FIRST_DATE,
  start(_path, seed) {
    const random = createRandomness(seed, 'us10y');
    let level = 3.2;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      level = clamp(level + 0.001 * (3 - level) + 0.05 * random.normal(day), 0.4, 8);
      return roundDecimals(level, 3);
    };
  },
};

/** A policy rate that moves by quarter points every six weeks or so, mostly on in the direction it took last. */
function createPolicyTarget(seed: number): (day: Day) => number {
  const random = createRandomness(seed, 'fedFunds');
  let target = 0.25;
  let direction = 1;
  return (day) => {
    if (day % 45 === 0 && random.uniform(day) < 0.35) {
      if (target <= 0.25) direction = 1;
      else if (target >= 5.5) direction = -1;
      else if (random.uniform(day, 1) < 0.15) direction = -direction;
      target += 0.25 * direction;
    }
    return target;
  };
}

export const policyRate: SimulatedSeries = { from: FIRST_DATE, start: (_path, seed) => createPolicyTarget(seed) };

/** What banks pay each other, a little below the target's upper limit. */
export const fedFunds: SimulatedSeries = {
  from: FIRST_DATE,
  start(_path, seed) {
    const target = createPolicyTarget(seed);
    return (day) => roundDecimals(target(day) - 0.12, 2);
  },
};

/** Two years of policy as the bond market expects them: mostly the rate of the day. */
export const us2y: SimulatedSeries = {
  from: FIRST_DATE,
  start(_path, seed) {
    const target = createPolicyTarget(seed);
    const random = createRandomness(seed, 'us2y');
    let premium = 0;
    return (day) => {
      const policy = target(day);
      if (!isUsExchangeDay(day)) return Number.NaN;
      premium += -0.01 * premium + 0.05 * random.normal(day);
      return roundDecimals(clamp(0.6 + 0.8 * policy + premium, 0.05, 8), 3);
    };
  },
};

/** First prints, dated by their release on the first exchange day of the month. */
export const pmi: SimulatedSeries = {
  from: FIRST_DATE,
  start(_path, seed) {
    const random = createRandomness(seed, 'pmi');
    let level = 52;
    return (day) => {
      if (!isFirstUsExchangeDayOfMonth(day)) return Number.NaN;
      level = clamp(level + 0.08 * (52 - level) + 1.4 * random.normal(day), 38, 65);
      return roundDecimals(level, 1);
    };
  },
};
