import { OracleError } from '../platform/errors.ts';
import { openCsvFeed } from './csv/feed.ts';
import type { Feed, FeedCoverage } from './feed.ts';
import { FIRST_LIVE_DAY } from './live/feed.ts';
import { openSimulatedFeed } from './simulated/feed.ts';

/** The FEEDS setting as far as it is decided before the record is open. */
export interface FeedChoice {
  coverage: FeedCoverage;
  /** The feed for a record made from `recorded` (null: no record yet). `feed` is null for live data, which needs the database. */
  selectFeed(recorded: string | null): { feed: Feed | null; reason: string | null };
}

const CHOICES = 'Set FEEDS to auto, live, simulated or csv:<folder>.';
const LIVE_COVERAGE: FeedCoverage = { firstDay: FIRST_LIVE_DAY, lastDay: null };

/**
 * Parses the FEEDS setting. `auto` probes live providers for at most 3 s and falls back to a simulated market; an existing record keeps
 * the feed it was made from.
 * @throws OracleError CONFIG_INVALID for an unknown setting, FEED_INVALID naming file and line
 */
export async function chooseFeed(
  setting: string,
  { seed, isLiveReachable }: { seed: number; isLiveReachable(): Promise<boolean> },
): Promise<FeedChoice> {
  if (setting === 'live') return { coverage: LIVE_COVERAGE, selectFeed: () => ({ feed: null, reason: null }) };
  if (setting === 'auto') return chooseAutomatically(seed, await isLiveReachable());
  const feed = await openNamedFeed(setting, seed);
  return { coverage: await feed.coverage(), selectFeed: () => ({ feed, reason: null }) };
}

function chooseAutomatically(seed: number, reachable: boolean): FeedChoice {
  const simulated = (reason: string) => ({ feed: openSimulatedFeed({ seed }), reason });
  return {
    coverage: LIVE_COVERAGE,
    selectFeed(recorded) {
      if (recorded === 'live') return { feed: null, reason: reachable ? null : 'no venue responds: steps wait for live data' };
      if (recorded?.startsWith('csv:')) throw csvFolderRequired(recorded);
      if (recorded !== null) return simulated('the record in this folder was made from the SIMULATED market and continues with it');
      return reachable ? { feed: null, reason: null } : simulated('no live data could be reached within 3 s: the market is SIMULATED');
    },
  };
}

async function openNamedFeed(setting: string, seed: number): Promise<Feed> {
  if (setting === 'simulated') return openSimulatedFeed({ seed });
  if (!setting.startsWith('csv:')) throw invalidFeedsSetting(`"${setting}" is not a feed`);
  const folder = setting.slice('csv:'.length).trim();
  if (folder === '') throw invalidFeedsSetting('csv: needs a folder');
  return openCsvFeed(folder);
}

/** The record stores the folder's name without its path. */
function csvFolderRequired(recorded: string): OracleError {
  const suggestedAction = `Set FEEDS=csv:<folder>, with the folder named "${recorded.slice('csv:'.length)}" that the record was made from.`;
  const message = `Setting FEEDS: the record in this data folder was made from files (${recorded})`;
  return new OracleError('CONFIG_INVALID', message, { field: 'FEEDS', suggestedAction });
}

function invalidFeedsSetting(problem: string): OracleError {
  return new OracleError('CONFIG_INVALID', `FEEDS: ${problem}. ${CHOICES}`, { field: 'FEEDS', suggestedAction: CHOICES });
}
