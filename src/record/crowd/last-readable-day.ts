import { isPublicCaller } from '../../auth/caller.ts';
import type { Day } from '../../forecast/day.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ViewOptions } from '../forecast-view.ts';

/** The last day whose wager and probabilities a caller may know; null when there is no limit to it. */
export async function getLastReadableDay(record: ForecastRecord, { caller, policy, now }: ViewOptions): Promise<Day | null> {
  if (policy === 'immediate' || !isPublicCaller(caller)) return null;
  return record.getLastPublicDay(now);
}
