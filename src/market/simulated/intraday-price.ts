import { DAY_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import { type PricePath, roundPrice } from './price-path.ts';
import { createRandomness, type Randomness } from './random.ts';

const MINUTE_MS = 60_000;
/** Terms of the series: enough for moves within the hour. */
const TERMS = 48;

/** Price by the minute: a Brownian bridge between the closes at 00:00 UTC before and after, with the volatility of the day. */
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

/** Karhunen-Loeve series of a standard Brownian bridge at `elapsed` in [0, 1]. */
function evaluateBridge(random: Randomness, day: number, elapsed: number): number {
  let sum = 0;
  for (let k = 1; k <= TERMS; k++) sum += (random.normal(day, k) * Math.sin(k * Math.PI * elapsed)) / k;
  return (sum * Math.SQRT2) / Math.PI;
}
