import { type Day, parseDay, toDay } from '../../forecast/day.ts';
import { allocateFloat64, allocateInt32, createGrowableColumn } from '../series/growable-column.ts';
import { type Observations, sliceKnownAt } from '../series/observations.ts';
import { getPublicationMs, type SeriesId } from '../series/series.ts';
import type { PricePath } from './price-path.ts';
import { SIMULATED_SERIES } from './registry.ts';

/** Generates one simulated series lazily. The returned function slices it as known at an instant. */
export function createGeneratedSeries(id: SeriesId, path: PricePath, seed: number): (atMs: number) => Observations {
  const { from, start } = SIMULATED_SERIES[id];
  const generate = start(path, seed);
  const days = createGrowableColumn(allocateInt32);
  const values = createGrowableColumn(allocateFloat64);
  const availableAt = createGrowableColumn(allocateFloat64);
  let next: Day = parseDay(from);

  function appendDay(day: Day): void {
    const value = generate(day);
    if (Number.isNaN(value)) return;
    days.push(day);
    values.push(value);
    availableAt.push(getPublicationMs(id, day));
  }

  return (atMs) => {
    for (; next <= toDay(atMs); next++) appendDay(next);
    return sliceKnownAt({ source: 'simulated', days: days.view(), values: values.view(), availableAt: availableAt.view() }, atMs);
  };
}
