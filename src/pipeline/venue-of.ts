import type { Venue } from '../wager/venue.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts } from './parts.ts';

/** The venue that a wager was sized for, whether new ones go there or not; undefined when it is not configured. */
export function venueOf({ venue, otherVenues }: Pick<PipelineParts, 'venue' | 'otherVenues'>, wager: WagerDoc): Venue | undefined {
  return [venue, ...otherVenues].find(({ name }) => name === wager.venue);
}
