import type { Day } from '../forecast/day.ts';
import { isAnybody } from './caller.ts';
import type { ForecastRecord } from './record.ts';
import type { ViewOptions } from './views.ts';

/** The last day whose wager and probabilities a caller may know; null when there is no limit to it. */
export async function readableThrough(record: ForecastRecord, { caller, policy, now }: ViewOptions): Promise<Day | null> {
  if (policy === 'immediate' || !isAnybody(caller)) return null;
  return record.lastDayTold(now);
}
