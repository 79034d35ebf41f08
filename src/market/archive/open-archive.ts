import type { Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import { runDuePolls } from '../live/collect/poll.ts';
import { createProviders } from '../live/providers/create-providers.ts';
import type { ProviderTiming } from '../live/providers/provider-timing.ts';
import type { ProviderUrls } from '../live/providers/provider-urls.ts';
import { PollStore } from '../live/store/poll-store.ts';
import { createArchivePoll } from './archive-poll.ts';
import { ArchiveStore } from './archive-store.ts';
import { barsCollector } from './bars/collect-bars.ts';
import { createCalendarCollectors } from './calendar/collect-calendar.ts';
import { dvolCollector } from './options/dvol.ts';
import { optionVolsCollector } from './options/option-vols.ts';

export interface MarketArchiveOptions {
  db: Db;
  urls: ProviderUrls;
  /** CSV file in place of the public calendars; null: none. */
  calendarFile: string | null;
  log: Log;
  now(): number;
  signal: AbortSignal;
  timing?: Partial<ProviderTiming>;
}

export interface MarketArchive {
  /** Collects what is due. A failure of a provider is recorded and logged, not thrown. */
  collect(): Promise<void>;
}

/**
 * Collects market data for later models. It has providers of its own: its failures suspend none that forecasts and reports read, and
 * its requests delay none of theirs.
 */
export function openMarketArchive({ db, urls, calendarFile, log, now, signal, timing }: MarketArchiveOptions): MarketArchive {
  const providers = createProviders({ urls, log, now, signal, timing });
  const store = new ArchiveStore(db);
  const collectors = [dvolCollector, optionVolsCollector, barsCollector, ...createCalendarCollectors(calendarFile)];
  const polls = collectors.map((collector) => createArchivePoll(collector, { store, providers, now }));
  return { collect: () => runDuePolls(polls, { polls: new PollStore(db), log, now }) };
}
