import { OracleError } from '../errors.ts';
import { openCsvFeed } from './csv/feed.ts';
import type { Feed } from './feed.ts';
import { DEFAULT_SEED, openSimulatedFeed } from './simulated/feed.ts';

export interface OpenFeedOptions {
  /** Seed of a simulated feed. */
  seed?: number;
}

export interface OpenedFeed {
  feed: Feed;
  /** Why this feed and not the one wished for, to be said loudly at the start; null when the setting named it. */
  reason: string | null;
}

const CHOICES = 'Set FEEDS to auto, simulated or csv:<folder>.';

/**
 * Opens the feed that the FEEDS setting names: `auto`, `simulated` or `csv:<folder>`.
 * @throws OracleError CONFIG_INVALID for another setting, FEED_INVALID naming file and line.
 */
export async function openFeed(setting: string, { seed = DEFAULT_SEED }: OpenFeedOptions = {}): Promise<OpenedFeed> {
  if (setting === 'simulated') return { feed: openSimulatedFeed({ seed }), reason: null };
  if (setting === 'auto')
    return { feed: openSimulatedFeed({ seed }), reason: 'live feeds are not available in this version: the market is SIMULATED' };
  if (setting.startsWith('csv:')) return { feed: await openCsvFeed(folderOf(setting)), reason: null };
  if (setting === 'live') throw configInvalid('live feeds are not available in this version');
  throw configInvalid(`"${setting}" names no feed`);
}

function folderOf(setting: string): string {
  const folder = setting.slice('csv:'.length).trim();
  if (folder !== '') return folder;
  throw configInvalid('csv: needs a folder');
}

function configInvalid(problem: string): OracleError {
  return new OracleError('CONFIG_INVALID', `FEEDS: ${problem}. ${CHOICES}`, { field: 'FEEDS', suggestedAction: CHOICES });
}
