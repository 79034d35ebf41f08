import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type Day, formatDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, SpotPrice, VenueClose } from '../feed.ts';
import { getNextPublicationMs } from '../series/next-publication.ts';
import { type Observations, sliceKnownAt } from '../series/observations.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { loadCsvFolder } from './load-folder.ts';

/**
 * A folder of CSV files as a feed (the files: `CSV_SOURCES`). It has daily closes only, so the close of day t stands for the
 * price from 21:35 UTC of t on, and that of t-1 for the hours before.
 * @throws OracleError FEED_INVALID naming file and line.
 */
export async function openCsvFeed(folder: string): Promise<Feed> {
  await requireFolder(folder);
  const { series, fundFlows } = await loadCsvFolder(folder);
  const closes = series.btcClose;
  const firstDay = requireFirstDay(folder, closes);
  const lastDay = closes.days.at(-1) as Day;
  const source = `csv:${basename(resolve(folder))}`;
  const findPrice = (day: Day): number | null => (day >= firstDay && day <= lastDay ? closes.values[day - firstDay] : null);

  return {
    kind: 'csv',
    source,
    coverage: async () => ({ firstDay, lastDay }),
    observations: async (id, atMs) => sliceKnownAt(series[id], atMs),
    spot: async (atMs) => buildSpotPrice(findPrice, atMs, `${source} covers ${formatDay(firstDay)} to ${formatDay(lastDay)}`, source),
    dailyCloses: async (day, atMs) => [buildVenueClose(source, day, atMs, findPrice(day))],
    fundFlows: async (atMs) => Object.fromEntries(Object.entries(fundFlows).map(([ticker, flows]) => [ticker, sliceKnownAt(flows, atMs)])),
    strikes: async () => [],
    nextChangeAt: async (what, atMs) => (what === 'spot' ? getNextSpotChangeMs(atMs) : getNextPublicationMs(what, atMs)),
    providerHealth: async () => [],
  };
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) return;
  const problem = found ? 'is not a folder' : 'does not exist';
  const suggestedAction = 'Set FEEDS=csv:<folder> to a folder with btc_daily.csv, or FEEDS=simulated.';
  throw new OracleError('FEED_INVALID', `${resolve(folder)} ${problem}`, { field: 'FEEDS', suggestedAction });
}

function requireFirstDay(folder: string, closes: Observations): Day {
  if (closes.days.length > 0) return closes.days[0];
  throw new OracleError('FEED_INVALID', `${folder}: btc_daily.csv holds no price`, { field: 'FEEDS', suggestedAction: 'Add rows to it.' });
}

function buildSpotPrice(findPrice: (day: Day) => number | null, atMs: number, covers: string, source: string): SpotPrice {
  const today = toDay(atMs);
  const isSignalTime = atMs >= getSignalTimeMs(today);
  const day = isSignalTime ? today : today - 1;
  const priceUsd = findPrice(day);
  if (priceUsd === null || findPrice(today) === null) {
    throw new OracleError('PRICE_UNAVAILABLE', `No price at ${new Date(atMs).toISOString()}: ${covers}`);
  }
  const before = findPrice(day - 1);
  const change24hPct = before === null ? null : (priceUsd / before - 1) * 100;
  return { priceUsd, observedAtMs: isSignalTime ? getSignalTimeMs(today) : toInstantMs(today), source, change24hPct };
}

/** The price of a day begins at 21:35 UTC, and is told as that of the day before from 00:00 UTC on. */
function getNextSpotChangeMs(atMs: number): number {
  const today = toDay(atMs);
  return atMs < getSignalTimeMs(today) ? getSignalTimeMs(today) : toInstantMs(today + 1);
}

function buildVenueClose(venue: string, day: Day, atMs: number, priceUsd: number | null): VenueClose {
  if (atMs < toInstantMs(day + 1)) return { venue, priceUsd: null, reason: 'the day is still running' };
  return priceUsd === null ? { venue, priceUsd, reason: 'not in the files' } : { venue, priceUsd };
}
