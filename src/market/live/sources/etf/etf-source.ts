import { type Day, formatDay, toDay } from '../../../../forecast/day.ts';
import { isUsExchangeDay } from '../../../series/us-calendar.ts';
import type { ProviderRequest } from '../../providers/provider.ts';
import { fetchParsed, invalidAnswer } from '../http-source.ts';
import type { DayRange, EtfDay, EtfSource } from '../source.ts';

export const FIRST_FLOW_DATE = '2024-01-11';

interface EtfSourceOptions extends Omit<EtfSource, 'fetch'> {
  request: ProviderRequest;
  /** Days in any order, possibly outside the range or without a flow. */
  read(body: unknown, range: DayRange, providerTitle: string): EtfDay[];
}

export function createEtfSource({ request, read, ...source }: EtfSourceOptions): EtfSource {
  return {
    ...source,
    fetch: (provider, range) =>
      fetchParsed(provider, request, ({ body, receivedAtMs }) => {
        return selectReportedDays(read(body, range, provider.title), range, provider.title, receivedAtMs);
      }),
  };
}

/** Each day's last entry; one without a flow is a holiday or not reported yet. @throws OracleError FEED_INVALID for a day after tomorrow */
export function selectReportedDays(days: readonly EtfDay[], { from, to }: DayRange, providerTitle: string, nowMs: number): EtfDay[] {
  const byDay = new Map<Day, EtfDay>();
  for (const entry of days) {
    if (entry.day > toDay(nowMs) + 1) throw invalidAnswer(providerTitle, 'date', `${formatDay(entry.day)} is in the future`);
    if (entry.day >= from && entry.day <= to && isUsExchangeDay(entry.day) && hasFlow(entry)) byDay.set(entry.day, entry);
  }
  return [...byDay.values()];
}

function hasFlow({ totalMusd, fundsMusd }: EtfDay): boolean {
  return totalMusd !== 0 || Object.values(fundsMusd ?? {}).some((flow) => flow !== 0);
}
