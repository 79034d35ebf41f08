import { type Day, dayOf, parseDay } from '../../forecast/day.ts';
import { createGrowable, float64, int32 } from '../growable.ts';
import { knownAt, type Observations } from '../observations.ts';
import { publishedAt, type SeriesId } from '../series.ts';
import type { PricePath } from './price-path.ts';
import { SIMULATED_SERIES } from './series.ts';

/** One simulated series as far as it was needed so far: what of it is known at an instant. */
export function recordSeries(id: SeriesId, path: PricePath, seed: number): (atMs: number) => Observations {
  const { from, start } = SIMULATED_SERIES[id];
  const generate = start(path, seed);
  const days = createGrowable(int32);
  const values = createGrowable(float64);
  const availableAt = createGrowable(float64);
  let next: Day = parseDay(from);

  function record(day: Day): void {
    const value = generate(day);
    if (Number.isNaN(value)) return;
    days.push(day);
    values.push(value);
    availableAt.push(publishedAt(id, day));
  }

  return (atMs) => {
    for (; next <= dayOf(atMs); next++) record(next);
    return knownAt({ source: 'simulated', days: days.view(), values: values.view(), availableAt: availableAt.view() }, atMs);
  };
}
