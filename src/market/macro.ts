import { type Day, dayOf } from '../forecast/day.ts';
import { returnCorrelation } from './correlation.ts';
import type { Feed } from './feed.ts';
import { knownAt, type Observations } from './observations.ts';
import { SERIES, type SeriesId } from './series.ts';

/** One macro series beside Bitcoin, as known at one instant; null where it is missing or stale. */
export interface MacroReading {
  series: SeriesId;
  source: string;
  value: number | null;
  /** Change over the last five observations, in percent. */
  change5dPct: number | null;
  /** Correlation of its changes with Bitcoin's log returns over the same dates. */
  correlation: number | null;
  observedDay: Day | null;
}

export interface MacroContext {
  atMs: number;
  source: string;
  dxy: MacroReading;
  sp500: MacroReading;
  /** USD per ounce of gold divided by the BTC close; the correlation is that of gold with Bitcoin. */
  goldBtcRatio: MacroReading;
  ismPmi: MacroReading;
}

/** Daily series are compared over a quarter; the PMI, one value a month, over two years. */
const DAILY_WINDOW = { days: 90, minPairs: 20, logarithmic: true };
const MONTHLY_WINDOW = { days: 730, minPairs: 12, logarithmic: false };

/** Macro figures and their correlation with Bitcoin, from what the feed knew at `atMs`. @throws what the feed throws */
export async function macroContext(feed: Feed, atMs: number): Promise<MacroContext> {
  const btc = knownAt(await feed.observations('btcClose', atMs), atMs);
  const read = async (series: SeriesId, window: typeof DAILY_WINDOW): Promise<MacroReading> => {
    const known = knownAt(await feed.observations(series, atMs), atMs);
    return reading(series, known, dayOf(atMs), returnCorrelation(known, btc, dayOf(atMs) - window.days, window));
  };
  const gold = await read('gold', DAILY_WINDOW);
  const close = btc.values.at(-1);
  return {
    atMs,
    source: feed.source,
    dxy: await read('dxy', DAILY_WINDOW),
    sp500: await read('sp500', DAILY_WINDOW),
    goldBtcRatio: { ...gold, value: gold.value === null || close === undefined ? null : gold.value / close, change5dPct: null },
    ismPmi: await read('pmi', MONTHLY_WINDOW),
  };
}

function reading(series: SeriesId, { source, days, values }: Observations, today: Day, correlation: number | null): MacroReading {
  const last = days.length - 1;
  const observedDay = last >= 0 ? days[last] : null;
  if (observedDay === null || today - observedDay > SERIES[series].staleDays) {
    return { series, source, value: null, change5dPct: null, correlation: null, observedDay };
  }
  const change5dPct = last >= 5 ? (values[last] / values[last - 5] - 1) * 100 : null;
  return { series, source, value: values[last], change5dPct, correlation, observedDay };
}
