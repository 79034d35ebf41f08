import { type Day, parseDay } from '../../forecast/day.ts';
import { roundTo } from '../../platform/round.ts';
import { allocateFloat64, createGrowableColumn } from '../series/growable-column.ts';
import { createRandomness, type Randomness } from './random.ts';

export const FIRST_PRICE_DAY = parseDay('2010-07-18');

/** Simulated daily closes at 00:00 UTC after each day, computed lazily up to the requested day. */
export interface PricePath {
  /** USD; the close before `FIRST_PRICE_DAY` is the opening price. */
  close(day: Day): number;
  /** Log return from the close of `day - days` to that of `day`; truncated at the start of the path. */
  logReturn(day: Day, days: number): number;
  /** Standard deviation of the day's log return. */
  dailyVolatility(day: Day): number;
}

/** Daily volatility of each regime, with its transition probabilities to the next and the previous one. */
const VOLATILITY_REGIMES = [
  { name: 'calm', volatility: 0.015, up: 1 / 45, down: 0 },
  { name: 'normal', volatility: 0.027, up: 1 / 90, down: 1 / 70 },
  { name: 'storm', volatility: 0.05, up: 0, down: 1 / 20 },
] as const;

const GARCH = { reaction: 0.1, memory: 0.82, highestVolatility: 0.08 };
const JUMP = { chance: 0.01, smallest: 0.04, spread: 0.08 };
/** Beyond `slack` (log price) from the growth curve, the price reverts by the fraction `pull` per day. */
const MEAN_REVERSION = { slack: 0.4, pull: 1.5 / 365 };
const GENESIS = parseDay('2009-01-03');
const ANCHOR = { day: parseDay('2026-01-01'), logPrice: Math.log(87_000) };
/** Power law of the network's age up to the anchor; growth then decays over eight years. */
const GROWTH = { exponent: 5.62, fadeDays: 8 * 365 };

/** GARCH volatility with regimes and jumps. The direction is unpredictable: shocks are symmetric, and the drift is the growth curve only. */
export function createPricePath(seed: number): PricePath {
  const random = createRandomness(seed, 'btc');
  const logPrices = createGrowableColumn(allocateFloat64, 8192);
  const volatilities = createGrowableColumn(allocateFloat64, 8192);
  logPrices.push(computeGrowthCurve(FIRST_PRICE_DAY - 1));
  volatilities.push(VOLATILITY_REGIMES[1].volatility);
  let regime = 1;
  let variance = VOLATILITY_REGIMES[1].volatility ** 2;
  let lastShock = 0;

  function step(day: Day, previous: number): void {
    regime = drawNextRegime(regime, random.uniform(day));
    const base = VOLATILITY_REGIMES[regime].volatility ** 2 * computeYouthFactor(day);
    const next = base * (1 - GARCH.reaction - GARCH.memory) + GARCH.reaction * lastShock ** 2 + GARCH.memory * variance;
    variance = Math.min(next, GARCH.highestVolatility ** 2);
    lastShock = Math.sqrt(variance) * random.fatTailed(day);
    logPrices.push(previous + computeDrift(day, previous) + lastShock + drawJump(day, random));
    volatilities.push(Math.sqrt(variance));
  }

  /** Computes the path up to `day`. Index 0 is the day before the first. */
  function indexOf(day: Day): number {
    const index = day - FIRST_PRICE_DAY + 1;
    for (let next = logPrices.length; next <= index; next++) step(FIRST_PRICE_DAY - 1 + next, logPrices.at(next - 1));
    return Math.max(0, index);
  }

  const logPrice = (day: Day) => logPrices.at(indexOf(day));
  return {
    close: (day) => roundPrice(Math.exp(logPrice(day))),
    logReturn: (day, days) => logPrice(day) - logPrice(day - days),
    dailyVolatility: (day) => volatilities.at(indexOf(day)),
  };
}

/** Cents, or millionths of a dollar below 100 USD. */
export function roundPrice(priceUsd: number): number {
  return roundTo(priceUsd, priceUsd < 100 ? 6 : 2);
}

function drawNextRegime(regime: number, chance: number): number {
  const { up, down } = VOLATILITY_REGIMES[regime];
  if (chance < up) return regime + 1;
  return chance < up + down ? regime - 1 : regime;
}

/** Higher variance in the market's first years. */
function computeYouthFactor(day: Day): number {
  return 1 + 1.2 * Math.exp(-(day - FIRST_PRICE_DAY) / (4 * 365));
}

function computeGrowthCurve(day: Day): number {
  const late = day - ANCHOR.day;
  if (late <= 0) return ANCHOR.logPrice + GROWTH.exponent * Math.log((day - GENESIS) / (ANCHOR.day - GENESIS));
  const slope = GROWTH.exponent / (ANCHOR.day - GENESIS);
  return ANCHOR.logPrice + slope * GROWTH.fadeDays * (1 - Math.exp(-late / GROWTH.fadeDays));
}

function computeDrift(day: Day, logPrice: number): number {
  const distance = logPrice - computeGrowthCurve(day - 1);
  const excess = Math.sign(distance) * Math.max(0, Math.abs(distance) - MEAN_REVERSION.slack);
  return computeGrowthCurve(day) - computeGrowthCurve(day - 1) - MEAN_REVERSION.pull * excess;
}

function drawJump(day: Day, random: Randomness): number {
  if (random.uniform(day, 1) >= JUMP.chance) return 0;
  const size = JUMP.smallest + JUMP.spread * random.uniform(day, 2);
  return random.uniform(day, 3) < 0.5 ? size : -size;
}
