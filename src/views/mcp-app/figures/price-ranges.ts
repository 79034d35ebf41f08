import { type Fields, readInterval, readList, readNumber } from '../fields.ts';

export interface PriceRange {
  /** Probability that the price at the end is within it. */
  share: number;
  low: number;
  high: number;
}

/** Central ranges of the price at the end, widest last; empty for an answer without any. */
export function listPriceRanges({ ranges, band80 }: Fields): PriceRange[] {
  const listed = readList(ranges).flatMap((range) => toRange(range, readNumber(range.share)));
  const found = listed.length > 0 ? listed : toRange(band80, 0.8);
  return found.toSorted((a, b) => a.share - b.share);
}

function toRange(value: unknown, share: number | null): PriceRange[] {
  const interval = readInterval(value);
  return interval === null || share === null || share <= 0 || share >= 1 ? [] : [{ share, ...interval }];
}
