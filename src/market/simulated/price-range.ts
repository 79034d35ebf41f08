import { DAY_MS, type Day, toDay, toInstantMs } from '../../forecast/day.ts';
import type { PriceRange } from '../feed.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { createIntradayPrice } from './intraday-price.ts';
import { type PricePath, roundPrice } from './price-path.ts';
import { createRandomness } from './random.ts';

/** Part of a day in which the price moves from one value to another. */
interface PriceLeg {
  fromUsd: number;
  toUsd: number;
  /** Fraction of the day. */
  duration: number;
  /** Number of the leg's first of two draws. */
  draw: number;
}

export type PriceRanges = ReturnType<typeof createPriceRanges>;

const rangesByPath = new WeakMap<PricePath, PriceRanges>();

/** The ranges of a path, which its series of highs and lows share. */
export function getPriceRanges(path: PricePath, seed: number): PriceRanges {
  const known = rangesByPath.get(path) ?? createPriceRanges(path, seed);
  rangesByPath.set(path, known);
  return known;
}

/**
 * High and low of a day, drawn from the law of the extremes of a Brownian bridge: from midnight to an instant at most 21:35 UTC, and from
 * 21:35 to midnight, so that the range so far says nothing of the close.
 */
function createPriceRanges(path: PricePath, seed: number) {
  const random = createRandomness(seed, 'ranges');
  const priceAt = createIntradayPrice(path, seed);

  function drawLeg(day: Day, { fromUsd, toUsd, duration, draw }: PriceLeg): PriceRange {
    const [from, move] = [Math.log(fromUsd), Math.log(toUsd / fromUsd)];
    const variance = path.dailyVolatility(day) ** 2 * duration;
    const reach = (offset: number) => Math.sqrt(move ** 2 - 2 * variance * Math.log(random.uniform(day, draw + offset)));
    const highUsd = Math.max(fromUsd, toUsd, roundPrice(Math.exp(from + (move + reach(0)) / 2)));
    return { highUsd, lowUsd: Math.min(fromUsd, toUsd, roundPrice(Math.exp(from + (move - reach(1)) / 2))) };
  }

  const drawn = new Map<Day, PriceRange>();

  function untilEvening(day: Day, untilMs: number, priceUsd: number): PriceRange {
    const duration = (untilMs - toInstantMs(day)) / DAY_MS;
    return drawLeg(day, { fromUsd: path.close(day - 1), toUsd: priceUsd, duration, draw: 0 });
  }

  function drawWholeDay(day: Day): PriceRange {
    const eveningMs = getSignalTimeMs(day);
    const eveningUsd = priceAt(eveningMs);
    const before = untilEvening(day, eveningMs, eveningUsd);
    const duration = (toInstantMs(day + 1) - eveningMs) / DAY_MS;
    const after = drawLeg(day, { fromUsd: eveningUsd, toUsd: path.close(day), duration, draw: 2 });
    return { highUsd: Math.max(before.highUsd, after.highUsd), lowUsd: Math.min(before.lowUsd, after.lowUsd) };
  }

  return {
    soFar(atMs: number): PriceRange {
      const day = toDay(atMs);
      const untilMs = Math.min(atMs, getSignalTimeMs(day));
      return untilEvening(day, untilMs, priceAt(untilMs));
    },
    /** Kept: highs and lows are read one after the other. */
    wholeDay(day: Day): PriceRange {
      const range = drawn.get(day) ?? drawWholeDay(day);
      drawn.set(day, range);
      return range;
    },
  };
}
