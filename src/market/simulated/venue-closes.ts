import { type Day, toInstantMs } from '../../forecast/day.ts';
import type { VenueClose } from '../feed.ts';
import { type PricePath, roundPrice } from './price-path.ts';
import { createRandomness } from './random.ts';

const SIMULATED_VENUES = ['sim-north', 'sim-east', 'sim-south'] as const;
/** Standard deviation of a venue's close (fraction); capped at five times as much. */
const DEVIATION = 0.0008;

/** Each day, one venue closes at the path's close, one below and one above it, so the median is the path's close. */
export function createVenueCloses(path: PricePath, seed: number): (day: Day, atMs: number) => VenueClose[] {
  const random = createRandomness(seed, 'venues');
  return (day, atMs) => {
    if (atMs < toInstantMs(day + 1))
      return SIMULATED_VENUES.map((venue) => ({ venue, priceUsd: null, reason: 'the day is still running' }));
    const middle = Math.floor(random.uniform(day) * SIMULATED_VENUES.length);
    const offset = (place: number) => DEVIATION * Math.min(5, Math.abs(random.normal(day, place)));
    return SIMULATED_VENUES.map((venue, index) => {
      const place = (index - middle + SIMULATED_VENUES.length) % SIMULATED_VENUES.length;
      const factor = [1, 1 - offset(1), 1 + offset(2)][place];
      return { venue, priceUsd: roundPrice(path.close(day) * factor) };
    });
  };
}
