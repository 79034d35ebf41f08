import type { Venue } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import type { PipelineDeps } from '../deps.ts';

export function findVenue({ venue, otherVenues }: Pick<PipelineDeps, 'venue' | 'otherVenues'>, wager: WagerDoc): Venue | undefined {
  return [venue, ...otherVenues].find(({ name }) => name === wager.venue);
}
