import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type Day, formatDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, PriceRange, SpotPrice } from '../feed.ts';
import { findSpotFromCloses, toVenueClose } from '../prices/stored-closes.ts';
import { findValueAt } from '../series/lookback.ts';
import { type Observations, sliceKnownAt } from '../series/observations.ts';
import { getNextPublicationMs } from '../series/series.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { loadCsvFolder } from './load-folder.ts';

/** Opens a folder of CSV files (`CSV_SOURCES`) as a feed. @throws OracleError FEED_INVALID naming file and line */
export async function openCsvFeed(folder: string): Promise<Feed> {
  await requireFolder(folder);
  const { series, fundFlows } = await loadCsvFolder(folder);
  const closes = series.btcClose;
  const firstDay = requireFirstDay(folder, closes);
  const lastDay = closes.days.at(-1) as Day;
  const source = `csv:${basename(resolve(folder))}`;
  const spot = (atMs: number): SpotPrice => {
    const price = findSpotFromCloses(closes, atMs);
    if (price !== null) return { ...price, source };
    const covers = `${source} covers ${formatDay(firstDay)} to ${formatDay(lastDay)}`;
    throw new OracleError('PRICE_UNAVAILABLE', `No price at ${new Date(atMs).toISOString()}: ${covers}`);
  };

  return {
    kind: 'csv',
    source,
    coverage: async () => ({ firstDay, lastDay }),
    observations: async (id, atMs) => sliceKnownAt(series[id], atMs),
    spot: async (atMs) => spot(atMs),
    rangeSoFar: async (atMs) => findRangeSoFar(series, atMs),
    dailyCloses: async (day, atMs) => [
      toVenueClose(source, { day, atMs, priceUsd: findValueAt(closes, day), missingReason: 'not in the files' }),
    ],
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

/** As the close stands for the price from 21:35 UTC on, so do high and low of the day for those so far; before there are none. */
function findRangeSoFar({ btcHigh, btcLow }: Record<'btcHigh' | 'btcLow', Observations>, atMs: number): PriceRange | null {
  const today = toDay(atMs);
  const [highUsd, lowUsd] = [findValueAt(btcHigh, today), findValueAt(btcLow, today)];
  return highUsd === null || lowUsd === null || atMs < getSignalTimeMs(today) ? null : { highUsd, lowUsd };
}

/** The spot price changes at 21:35 UTC; at 00:00 UTC its observation time does. */
function getNextSpotChangeMs(atMs: number): number {
  const today = toDay(atMs);
  return atMs < getSignalTimeMs(today) ? getSignalTimeMs(today) : toInstantMs(today + 1);
}
