import type { SeriesId } from '../series/series.ts';

/** The poll that brings the values of a series. */
export function getPollId(series: SeriesId): string {
  if (series === 'btcClose') return 'closes';
  return series;
}
