import type { Db } from 'mongodb';
import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
import { PollStore } from '../live/store/poll-store.ts';
import { toPollId } from './archive-poll.ts';
import { ARCHIVE_SERIES, ARCHIVE_SERIES_IDS, type ArchiveProvider, type ArchiveSeriesId } from './archive-series.ts';
import { ArchiveStore } from './archive-store.ts';

/** What is stored of a series by a provider. Times in ms; dates `YYYY-MM-DD`. */
export interface ArchiveReport {
  series: ArchiveSeriesId;
  provider: ArchiveProvider;
  /** First and last day with values, or day of reception of a calendar; null without any. */
  first: string | null;
  last: string | null;
  /** Days of a daily series with values, vintages of a calendar. */
  count: number;
  /** Readings that differ from an earlier one of the same day or calendar. */
  revisions: number;
  /** Days without values between first and last. */
  gaps: string[];
  /** Values masked in the last reading. */
  masked: number;
}

/** Of a feed: when it last succeeded, and why it fails. */
export interface ArchiveHealth {
  series: ArchiveSeriesId;
  title: string;
  lastOkAt: Date | null;
  /** Consecutive failures. */
  failures: number;
  lastError: string | null;
}

/** Series and providers with readings, and those that should have some. */
export async function readArchiveReport(db: Db): Promise<ArchiveReport[]> {
  const store = new ArchiveStore(db);
  const pairs = ARCHIVE_SERIES_IDS.flatMap((series) => ARCHIVE_SERIES[series].providers.map((provider) => ({ series, provider })));
  const reports = await Promise.all(pairs.map(({ series, provider }) => reportSeries(store, series, provider)));
  return reports.filter(({ provider, count }) => provider !== 'file' || count > 0);
}

async function reportSeries(store: ArchiveStore, series: ArchiveSeriesId, provider: ArchiveProvider): Promise<ArchiveReport> {
  const readings = await store.listReadings(series, provider);
  const isDaily = ARCHIVE_SERIES[series].daily;
  const dates = isDaily
    ? [...new Set(readings.map(({ key }) => key))]
    : readings.map(({ receivedAt }) => receivedAt.toISOString().slice(0, 10));
  const lastSeen = readings.at(-1)?.lastSeenAt.toISOString().slice(0, 10) ?? null;
  return {
    series,
    provider,
    first: dates[0] ?? null,
    last: isDaily ? (dates.at(-1) ?? null) : lastSeen,
    count: dates.length,
    revisions: readings.filter(({ vintage }) => vintage > 1).length,
    gaps: isDaily ? findGaps(dates.map(parseDay)) : [],
    masked: readings.at(-1)?.masked.length ?? 0,
  };
}

/** @param days ascending */
function findGaps(days: readonly Day[]): string[] {
  return days.flatMap((day, index) => {
    const before = days[index - 1] ?? day - 1;
    return Array.from({ length: day - before - 1 }, (_, gap) => formatDay(before + 1 + gap));
  });
}

export async function readArchiveHealth(db: Db): Promise<ArchiveHealth[]> {
  const polls = new PollStore(db);
  return Promise.all(
    ARCHIVE_SERIES_IDS.map(async (series) => {
      const poll = await polls.find(toPollId(series));
      const lastOkAt = poll?.okAtMs == null ? null : new Date(poll.okAtMs);
      return { series, title: ARCHIVE_SERIES[series].title, lastOkAt, failures: poll?.failures ?? 0, lastError: poll?.error ?? null };
    }),
  );
}
