import { type DeskParts, StatisticsDesk } from '../../src/record/statistics/desk.ts';

/** The same parts without what their statistics remember from one answer to the next: behind that a leak would not show. */
export function forgetful<Parts extends DeskParts>(parts: Parts): Parts {
  return Object.defineProperty({ ...parts }, 'statistics', { get: () => new StatisticsDesk(parts) });
}
