import { DAY_MS, type Day, formatDay, parseDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, PriceRange, SpotPrice, VenueClose } from '../feed.ts';
import { computeChange24hPct } from '../prices/stored-closes.ts';
import { allocateFloat64, allocateInt32, createGrowableColumn } from '../series/growable-column.ts';
import { type Observations, sliceKnownAt } from '../series/observations.ts';
import { getNextPublicationMs, getPublicationMs, SERIES_IDS, type SeriesId } from '../series/series.ts';
import { createFundFlows } from './fund-flows.ts';
import { createIntradayPrice } from './intraday-price.ts';
import { MACRO_SERIES } from './macro-series.ts';
import { MARKET_SERIES } from './market-series.ts';
import { createPricePath, FIRST_PRICE_DAY, type PricePath, roundPrice } from './price-path.ts';
import { getPriceRanges } from './price-range.ts';
import { createRandomness } from './random.ts';
import type { SimulatedSeries } from './simulated-series.ts';

const SIMULATED_VENUES = ['sim-north', 'sim-east', 'sim-south'] as const;

/** Standard deviation of a venue's close (fraction); capped at five times as much. */
const DEVIATION = 0.0008;

/** All series of the simulated feed. A new one is one entry of `MARKET_SERIES` or `MACRO_SERIES`. */
const SIMULATED_SERIES = {
  btcClose: { from: formatDay(FIRST_PRICE_DAY), start: (path) => path.close },
  btcHigh: { from: formatDay(FIRST_PRICE_DAY), start: (path, seed) => pickFromRanges(path, seed, 'highUsd') },
  btcLow: { from: formatDay(FIRST_PRICE_DAY), start: (path, seed) => pickFromRanges(path, seed, 'lowUsd') },
  ...MARKET_SERIES,
  ...MACRO_SERIES,
} as const satisfies Record<SeriesId, SimulatedSeries>;

const MINUTE_MS = 60_000;
/** Selected among small seeds: its price of 2026 is near the real one, and every recent year has most regimes. */
export const DEFAULT_SEED = 2;

/** Synthetic series from 2010-07-18 (macro from 2009-06) without an end; each value is a pure function of seed (int32) and date. */
export function openSimulatedFeed({ seed }: { seed: number } = { seed: DEFAULT_SEED }): Feed {
  const source = `simulated (seed ${seed})`;
  const path = createPricePath(seed);
  const priceAt = createIntradayPrice(path, seed);
  const ranges = getPriceRanges(path, seed);
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
    rangeSoFar: async (atMs) => (atMs < toInstantMs(FIRST_PRICE_DAY) ? null : ranges.soFar(atMs)),
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

function pickFromRanges(path: PricePath, seed: number, which: keyof PriceRange): (day: Day) => number {
  const { wholeDay } = getPriceRanges(path, seed);
  return (day) => wholeDay(day)[which];
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

/** Generates one simulated series lazily. The returned function slices it as known at an instant. */
function createGeneratedSeries(id: SeriesId, path: PricePath, seed: number): (atMs: number) => Observations {
  const { from, start } = SIMULATED_SERIES[id];
  const generate = start(path, seed);
  const days = createGrowableColumn(allocateInt32);
  const values = createGrowableColumn(allocateFloat64);
  const availableAt = createGrowableColumn(allocateFloat64);
  let next: Day = parseDay(from);

  function appendDay(day: Day): void {
    const value = generate(day);
    if (Number.isNaN(value)) return;
    days.push(day);
    values.push(value);
    availableAt.push(getPublicationMs(id, day));
  }

  return (atMs) => {
    for (; next <= toDay(atMs); next++) appendDay(next);
    return sliceKnownAt({ source: 'simulated', days: days.view(), values: values.view(), availableAt: availableAt.view() }, atMs);
  };
}

/** Each day, one venue closes at the path's close, one below and one above it, so the median is the path's close. */
function createVenueCloses(path: PricePath, seed: number): (day: Day, atMs: number) => VenueClose[] {
  const random = createRandomness(seed, 'venues');
  return (day, atMs) => {
    if (atMs < toInstantMs(day + 1))
      return SIMULATED_VENUES.map((venue) => ({ venue, priceUsd: null, reason: 'the day is still running' }));
    const middle = Math.floor(random.uniform(day) * SIMULATED_VENUES.length);
    const offset = (place: number) => DEVIATION * Math.min(5, Math.abs(random.normal(day, place)));
    return SIMULATED_VENUES.map((venue, index) => {
      const place = (index - middle + SIMULATED_VENUES.length) % SIMULATED_VENUES.length;
      const factor = [1, 1 - offset(1), 1 + offset(2)][place];
      return { venue, priceUsd: roundPrice(path.close(day) * factor) };
    });
  };
}
