import type { SeriesId } from '../series.ts';

/** The poll that brings the values of a series. */
export function pollOf(series: SeriesId): string {
  if (series === 'btcClose') return 'closes';
  return series;
}
