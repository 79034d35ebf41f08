import { OracleError } from '../../../errors.ts';
import { type Day, dayOf, formatDay } from '../../../forecast/day.ts';
import { isUsExchangeDay } from '../../us-calendar.ts';
import type { DayRange, EtfDay } from '../source.ts';

/** The first day on which US spot Bitcoin ETFs were traded. */
export const FIRST_FLOW_DATE = '2024-01-11';

/**
 * The days of a range on which US spot Bitcoin ETFs reported flows, each once: the one told last. A day on which nothing flowed is one
 * that the exchange was shut on, or that nobody has reported of yet.
 * @throws OracleError FEED_INVALID for a day after tomorrow
 */
export function reportedDays(days: readonly EtfDay[], { from, to }: DayRange, providerTitle: string, nowMs: number): EtfDay[] {
  const byDay = new Map<Day, EtfDay>();
  for (const told of days) {
    if (told.day > dayOf(nowMs) + 1) {
      throw new OracleError('FEED_INVALID', `${providerTitle}: date ${formatDay(told.day)} is in the future`, { field: 'date' });
    }
    if (told.day >= from && told.day <= to && isUsExchangeDay(told.day) && hasFlow(told)) byDay.set(told.day, told);
  }
  return [...byDay.values()];
}

function hasFlow({ totalMusd, fundsMusd }: EtfDay): boolean {
  return totalMusd !== 0 || Object.values(fundsMusd ?? {}).some((flow) => flow !== 0);
}
