import type { Day } from '../../../forecast/day.ts';
import type { DayRange } from '../sources/source.ts';

/** One part of the history, fetched piece by piece. */
export interface BackfillItem {
  /** The key that its progress is kept under. */
  id: string;
  from: Day;
  to: Day;
  pageDays: number;
  /** True when nothing can be forecast without it. */
  required: boolean;
  /** Fetches and stores one piece; doing so again is harmless. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  fetch(range: DayRange): Promise<void>;
}
