import { type Day, formatDay, toDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { isUsExchangeDay } from '../../../series/us-calendar.ts';
import type { DayRange, EtfDay } from '../source.ts';

/** The first day on which US spot Bitcoin ETFs were traded. */
export const FIRST_FLOW_DATE = '2024-01-11';

/**
 * The days of a range on which US spot Bitcoin ETFs reported flows, each once: the one told last. A day on which nothing flowed is one
 * that the exchange was shut on, or that nobody has reported of yet.
 * @throws OracleError FEED_INVALID for a day after tomorrow
 */
export function selectReportedDays(days: readonly EtfDay[], { from, to }: DayRange, providerTitle: string, nowMs: number): EtfDay[] {
  const byDay = new Map<Day, EtfDay>();
  for (const entry of days) {
    if (entry.day > toDay(nowMs) + 1) {
      throw new OracleError('FEED_INVALID', `${providerTitle}: date ${formatDay(entry.day)} is in the future`, { field: 'date' });
    }
    if (entry.day >= from && entry.day <= to && isUsExchangeDay(entry.day) && hasFlow(entry)) byDay.set(entry.day, entry);
  }
  return [...byDay.values()];
}

function hasFlow({ totalMusd, fundsMusd }: EtfDay): boolean {
  return totalMusd !== 0 || Object.values(fundsMusd ?? {}).some((flow) => flow !== 0);
}
