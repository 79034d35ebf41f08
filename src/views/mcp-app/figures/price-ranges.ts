import { type Fields, readFields, readInterval, readList, readNumber } from '../fields.ts';

export interface PriceRange {
  /** Probability that the price at the end is within it. */
  share: number;
  low: number;
  high: number;
}

/** Central ranges of the price at the end, widest last; empty for an answer without any. */
export function listPriceRanges({ range, ranges }: Fields): PriceRange[] {
  return [readFields(range), ...readList(ranges)].flatMap(toRange).toSorted((a, b) => a.share - b.share);
}

function toRange(fields: Fields): PriceRange[] {
  const [interval, share] = [readInterval(fields), readNumber(fields.share)];
  return interval === null || share === null || share <= 0 || share >= 1 ? [] : [{ share, ...interval }];
}
