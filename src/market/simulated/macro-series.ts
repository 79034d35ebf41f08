import { type Day, parseDay } from '../../forecast/day.ts';
import { roundTo } from '../../platform/round.ts';
import { isFirstUsExchangeDayOfMonth, isTradingDay, isUsExchangeDay } from '../series/us-calendar.ts';
import type { PricePath } from './price-path.ts';
import { createRandomness, type Randomness } from './random.ts';
import { clamp, drawSeries, type SimulatedSeries } from './simulated-series.ts';

const FIRST_DATE = '2009-06-01';

interface DriftingPriceOptions {
  start: number;
  /** Log growth per year. */
  growth: number;
  /** Standard deviation of a trading day's log return. */
  volatility: number;
  /** Mean reversion to the trend per trading day, as a fraction. */
  reversion: number;
  /** Correlation with Bitcoin's return of the same day. */
  correlation: number;
  decimals: number;
  isOpen: (day: Day) => boolean;
}

/** A price around a growing trend, correlated with Bitcoin's return of the same day and never ahead of it. */
function createDriftingPrice(stream: string, rule: DriftingPriceOptions): SimulatedSeries {
  const independentShare = Math.sqrt(1 - rule.correlation ** 2);
  return drawSeries(FIRST_DATE, stream, (random, path) => {
    let distance = 0;
    return (day) => {
      if (!rule.isOpen(day)) return Number.NaN;
      const shock = rule.correlation * computeBitcoinShock(path, day) + independentShare * random.fatTailed(day);
      distance += rule.volatility * shock - rule.reversion * distance;
      const years = (day - parseDay(FIRST_DATE)) / 365.25;
      return roundTo(rule.start * Math.exp(rule.growth * years + distance), rule.decimals);
    };
  });
}

/** The day's Bitcoin return in standard deviations. */
function computeBitcoinShock(path: PricePath, day: Day): number {
  return clamp(path.logReturn(day, 1) / path.dailyVolatility(day), -4, 4);
}

/** A policy rate that moves by quarter points every six weeks or so, mostly in the direction of its last move. */
function createPolicyTarget(random: Randomness): (day: Day) => number {
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

const SP500 = { start: 940, growth: 0.122, volatility: 0.0105, reversion: 0.003, correlation: 0.3, decimals: 2 };
const DXY = { start: 92, growth: 0.003, volatility: 0.0043, reversion: 0.003, correlation: -0.15, decimals: 3 };
const GOLD = { start: 980, growth: 0.085, volatility: 0.0098, reversion: 0.002, correlation: 0.1, decimals: 1 };

export const MACRO_SERIES = {
  sp500: createDriftingPrice('sp500', { ...SP500, isOpen: isUsExchangeDay }),
  dxy: createDriftingPrice('dxy', { ...DXY, isOpen: isTradingDay }),
  gold: createDriftingPrice('gold', { ...GOLD, isOpen: isTradingDay }),
  vix: drawSeries(FIRST_DATE, 'vix', (random, path) => {
    let distance = 0;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      distance += -0.04 * distance + 0.06 * random.fatTailed(day) - 0.015 * computeBitcoinShock(path, day);
      return roundTo(clamp(17.5 * Math.exp(distance), 9, 85), 2);
    };
  }),
  /** Expected policy over two years: mostly the rate of the day. */
  us2y: drawSeries(FIRST_DATE, 'us2y', (random, _path, seed) => {
    const target = createPolicyTarget(createRandomness(seed, 'fedFunds'));
    let premium = 0;
    return (day) => {
      const policy = target(day);
      if (!isUsExchangeDay(day)) return Number.NaN;
      premium += -0.01 * premium + 0.05 * random.normal(day);
      return roundTo(clamp(0.6 + 0.8 * policy + premium, 0.05, 8), 3);
    };
  }),
  us10y: drawSeries(FIRST_DATE, 'us10y', (random) => {
    let level = 3.2;
    return (day) => {
      if (!isUsExchangeDay(day)) return Number.NaN;
      level = clamp(level + 0.001 * (3 - level) + 0.05 * random.normal(day), 0.4, 8);
      return roundTo(level, 3);
    };
  }),
  /** The effective rate, below the target's upper limit. */
  fedFunds: drawSeries(FIRST_DATE, 'fedFunds', (random) => {
    const target = createPolicyTarget(random);
    return (day) => roundTo(target(day) - 0.12, 2);
  }),
  policyRate: drawSeries(FIRST_DATE, 'fedFunds', createPolicyTarget),
  /** First prints, dated by their release. */
  pmi: drawSeries(FIRST_DATE, 'pmi', (random) => {
    let level = 52;
    return (day) => {
      if (!isFirstUsExchangeDayOfMonth(day)) return Number.NaN;
      level = clamp(level + 0.08 * (52 - level) + 1.4 * random.normal(day), 38, 65);
      return roundTo(level, 1);
    };
  }),
};
