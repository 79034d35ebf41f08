import { DAY_MS, type Day, formatDay, toDay } from '../../forecast/day.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import type { Poll } from '../live/collect/poll.ts';
import type { Provider } from '../live/providers/provider.ts';
import type { ProviderId } from '../live/providers/providers.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { ARCHIVE_SERIES, type ArchiveSeriesId } from './archive-series.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { ArchiveCollector } from './collector.ts';

interface ArchivePollDeps {
  store: ArchiveStore;
  providers: Record<ProviderId, Provider>;
  now(): number;
}

export const toPollId = (series: ArchiveSeriesId) => `archive:${series}`;

/** Collects a day's values from its 21:35 UTC on, then days that were missed and can still be read. */
export function createArchivePoll(collector: ArchiveCollector, deps: ArchivePollDeps): Poll {
  return {
    id: toPollId(collector.series),
    everyMs: DAY_MS,
    retryMs: 60_000,
    async run(nowMs) {
      const latest = getLatestDay(nowMs);
      const problems: string[] = [];
      for (const day of await listDueDays(collector, deps.store, { latest, nowMs })) {
        problems.push(...(await collectDay(collector, deps, day)).map((problem) => `${formatDay(day)}: ${problem}`));
      }
      if (problems.length > 0) throw new OracleError('FEED_UNAVAILABLE', problems.join('; '));
      return getSignalTimeMs(latest + 1);
    },
  };
}

/** A failure of one day does not keep the others from being read. */
async function collectDay(collector: ArchiveCollector, { store, providers, now }: ArchivePollDeps, day: Day): Promise<string[]> {
  try {
    const { entries, problems } = await collector.collect(day, { providers, nowMs: now() });
    for (const entry of entries) await store.save(entry);
    return problems;
  } catch (error) {
    if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
    return [getErrorMessage(error)];
  }
}

/** The last day whose 21:35 UTC has passed. */
function getLatestDay(nowMs: number): Day {
  const today = toDay(nowMs);
  return nowMs >= getSignalTimeMs(today) ? today : today - 1;
}

async function listDueDays(
  { series, providers, reachDays, maxDelayMs }: ArchiveCollector,
  store: ArchiveStore,
  { latest, nowMs }: { latest: Day; nowMs: number },
): Promise<Day[]> {
  if (!ARCHIVE_SERIES[series].daily) return [latest];
  const keys = await Promise.all(providers.map((provider) => store.listKeys(series, provider)));
  const isStored = (day: Day) => keys.every((stored) => stored.includes(formatDay(day)));
  // Values of the present are not those of 21:35 any more.
  const isTooLate = maxDelayMs !== null && nowMs > getSignalTimeMs(latest) + maxDelayMs;
  const hasBegun = (day: Day) => keys.some((stored) => stored.length > 0 && stored[0] <= formatDay(day));
  const earlier = Array.from({ length: reachDays }, (_, index) => latest - 1 - index).filter(hasBegun);
  return [...(isTooLate ? [] : [latest]), ...earlier].filter((day) => !isStored(day));
}
