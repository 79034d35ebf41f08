import { DAY_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import { type PricePath, roundPrice } from './price-path.ts';
import { createRandomness, type Randomness } from './random.ts';

const MINUTE_MS = 60_000;
/** Terms of the bridge: enough for moves within the hour. */
const TERMS = 48;

/**
 * The price at an instant, to the minute: a Brownian bridge between the closes at 00:00 UTC before and after it, with the
 * volatility of its day. At 00:00 it is exactly the close of the day before.
 */
export function createIntradayPrice(path: PricePath, seed: number): (atMs: number) => number {
  const random = createRandomness(seed, 'intraday');
  return (atMs) => {
    const day = toDay(atMs);
    const from = path.close(day - 1);
    const minutes = Math.floor((atMs - toInstantMs(day)) / MINUTE_MS);
    if (minutes === 0) return from;
    const elapsed = (minutes * MINUTE_MS) / DAY_MS;
    const trend = elapsed * Math.log(path.close(day) / from);
    return roundPrice(from * Math.exp(trend + path.dailyVolatility(day) * evaluateBridge(random, day, elapsed)));
  };
}

/** A standard Brownian bridge at `elapsed` in [0, 1], by its Karhunen-Loeve series. */
function evaluateBridge(random: Randomness, day: number, elapsed: number): number {
  let sum = 0;
  for (let k = 1; k <= TERMS; k++) sum += (random.normal(day, k) * Math.sin(k * Math.PI * elapsed)) / k;
  return (sum * Math.SQRT2) / Math.PI;
}
