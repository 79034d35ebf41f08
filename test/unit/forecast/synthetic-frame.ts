import { type Day, parseDay } from '../../../src/forecast/day.ts';
import type { BusinessDaySeries, InputFrame } from '../../../src/forecast/inputs.ts';

/** Uniform numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface SyntheticOptions {
  rows?: number;
  firstDay?: Day;
  seed?: number;
}

/** A made-up history with every kind of input: late starters, masked stretches, weekends without observations. */
export function syntheticFrame({ rows = 1500, firstDay = parseDay('2015-01-01'), seed = 7 }: SyntheticOptions = {}): InputFrame {
  const random = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const walk = (start: number, volatility: number) => {
    let value = start;
    return Float64Array.from({ length: rows }, () => {
      const before = value;
      value *= Math.exp(volatility * normal());
      return before;
    });
  };
  const masked = (column: Float64Array, from: number) =>
    column.map((value, row) => (row < from || (row > from + 300 && row < from + 320) ? Number.NaN : value));
  const close = walk(250, 0.04);
  const noise = (centre: number, spread: number) => Float64Array.from({ length: rows }, () => centre + spread * normal());
  const series = (from: number, values: Float64Array): BusinessDaySeries => {
    const kept = [...values.keys()].filter((row) => row >= from && (firstDay + row + 3) % 7 < 5);
    return { days: Int32Array.from(kept, (row) => firstDay + row), values: Float64Array.from(kept, (row) => values[row]) };
  };
  const reach = seededRandom(seed + 1);
  const highs = close.map((value) => value * Math.exp(0.03 * reach()));
  const lows = close.map((value) => value * Math.exp(-0.03 * reach()));
  return {
    firstDay,
    close,
    fearGreed: masked(
      noise(50, 15).map((value) => Math.min(100, Math.max(0, Math.round(value)))),
      500,
    ),
    realizedPrice: masked(
      close.map((value) => value * Math.exp(0.3 * normal())),
      2,
    ),
    takerBuyFraction: masked(noise(0.5, 0.01), 300),
    fundingRate: masked(noise(0.0001, 0.0001), 700),
    gold: masked(walk(1200, 0.01), 0),
    pmi: masked(noise(52, 3), 0),
    high: masked(highs, 100),
    low: masked(lows, 100),
    etfFlow: series(900, noise(20, 200)),
    sp500: series(0, walk(2000, 0.01)),
    dxy: series(0, walk(95, 0.005)),
  };
}
