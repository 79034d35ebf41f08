import type { PriceRange } from '../feed.ts';
import { findQuorumPrice, type QuorumRule } from './quorum.ts';

export interface VenueRange extends PriceRange {
  venue: string;
}

/** A range that two venues agree on stands in for a quorum where the model can wait no longer. */
const MIN_LENIENT_VENUES = 2;
/**
 * Wider than the limit of closes: an extreme is a single trade, and in a fast minute the thinner books run 1 to 2 % further. A bad tick is
 * mostly further off than 3 %, and a smaller one hardly moves the median.
 */
const MAX_DEVIATION_BPS = 300;

/** Medians of the highs and of the lows that a quorum of venues agrees on, each without its outliers; null without both. */
export function findQuorumRange(ranges: readonly VenueRange[], { minVenues }: Pick<QuorumRule, 'minVenues'>): PriceRange | null {
  const rule = { minVenues, maxDeviationBps: MAX_DEVIATION_BPS };
  const highUsd = findQuorumPrice(toPrices(ranges, 'highUsd'), rule)?.priceUsd;
  const lowUsd = findQuorumPrice(toPrices(ranges, 'lowUsd'), rule)?.priceUsd;
  return highUsd === undefined || lowUsd === undefined || highUsd < lowUsd ? null : { highUsd, lowUsd };
}

/** As `findQuorumRange`, or else the range that at least two venues agree on. */
export function findLenientRange(ranges: readonly VenueRange[], rule: Pick<QuorumRule, 'minVenues'>): PriceRange | null {
  return findQuorumRange(ranges, rule) ?? findQuorumRange(ranges, { minVenues: Math.min(rule.minVenues, MIN_LENIENT_VENUES) });
}

function toPrices(ranges: readonly VenueRange[], side: keyof PriceRange) {
  return ranges.map((range) => ({ venue: range.venue, priceUsd: range[side] }));
}
