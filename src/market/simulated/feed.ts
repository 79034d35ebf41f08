import { DAY_MS, formatDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, SpotPrice } from '../feed.ts';
import { computeChange24hPct } from '../prices/stored-closes.ts';
import type { Observations } from '../series/observations.ts';
import { getNextPublicationMs, SERIES_IDS, type SeriesId } from '../series/series.ts';
import { createFundFlows } from './fund-flows.ts';
import { createGeneratedSeries } from './generated-series.ts';
import { createIntradayPrice } from './intraday-price.ts';
import { createPricePath, FIRST_PRICE_DAY } from './price-path.ts';
import { createVenueCloses } from './venue-closes.ts';

const MINUTE_MS = 60_000;
/** Selected among small seeds: its price of 2026 is near the real one, and every recent year has most regimes. */
export const DEFAULT_SEED = 2;

/** Synthetic series from 2010-07-18 (macro from 2009-06) without an end; each value is a pure function of seed (int32) and date. */
export function openSimulatedFeed({ seed }: { seed: number } = { seed: DEFAULT_SEED }): Feed {
  const source = `simulated (seed ${seed})`;
  const path = createPricePath(seed);
  const priceAt = createIntradayPrice(path, seed);
  const venueCloses = createVenueCloses(path, seed);
  const series = Object.fromEntries(SERIES_IDS.map((id) => [id, createGeneratedSeries(id, path, seed)])) as Record<
    SeriesId,
    (atMs: number) => Observations
  >;
  const fundFlows = createFundFlows(series.etfFlow, seed);

  return {
    kind: 'simulated',
    source,
    coverage: async () => ({ firstDay: FIRST_PRICE_DAY, lastDay: null }),
    observations: async (id, atMs) => series[id](atMs),
    spot: async (atMs) => buildSpotPrice(priceAt, atMs, source),
    async dailyCloses(day, atMs) {
      if (day < FIRST_PRICE_DAY) return [{ venue: source, priceUsd: null, reason: formatFirstDay() }];
      return venueCloses(day, atMs);
    },
    fundFlows: async (atMs) => fundFlows(atMs),
    strikes: async () => [],
    nextChangeAt: async (what, atMs) => (what === 'spot' ? floorToMinute(atMs) + MINUTE_MS : getNextPublicationMs(what, atMs)),
    providerHealth: async () => [],
  };
}

function buildSpotPrice(priceAt: (atMs: number) => number, atMs: number, source: string): SpotPrice {
  if (atMs < toInstantMs(FIRST_PRICE_DAY)) {
    throw new OracleError('PRICE_UNAVAILABLE', `No price at ${new Date(atMs).toISOString()}: ${formatFirstDay()}`);
  }
  const priceUsd = priceAt(atMs);
  const before = atMs - DAY_MS >= toInstantMs(FIRST_PRICE_DAY) ? priceAt(atMs - DAY_MS) : null;
  return { priceUsd, observedAtMs: floorToMinute(atMs), source, change24hPct: computeChange24hPct(before, priceUsd) };
}

function floorToMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

function formatFirstDay(): string {
  return `the simulation begins on ${formatDay(FIRST_PRICE_DAY)}`;
}
