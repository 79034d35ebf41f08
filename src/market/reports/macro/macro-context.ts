import { toDay } from '../../../forecast/day.ts';
import type { Feed } from '../../feed.ts';
import type { Observations } from '../../series/observations.ts';
import type { SeriesId } from '../../series/series.ts';
import { type LatestReading, readSeries } from '../../series/series-reading.ts';
import { type Correlation, correlateReturns } from '../correlation.ts';

/** The last value of a macro series with the correlation of its changes with Bitcoin's log returns. */
export interface MacroReading extends LatestReading, Correlation {
  /** Change over the last five observations, in percent. */
  change5dPct: number | null;
  /** Days of the correlation window, which ends with the last value. */
  windowDays: number;
}

const DAILY_WINDOW = { days: 90, minPairs: 20, logarithmic: true };
const MONTHLY_WINDOW = { days: 730, minPairs: 12, logarithmic: false };
export const MACRO_SERIES = ['dxy', 'sp500', 'gold', 'pmi', 'btcClose'] as const satisfies SeriesId[];

/** Macro series and their correlation with Bitcoin, as known at `atMs`. @throws the errors of the feed */
export async function buildMacroContext(feed: Feed, atMs: number) {
  const btc = await readSeries(feed, 'btcClose', atMs);
  const read = async (series: SeriesId, window: typeof DAILY_WINDOW): Promise<MacroReading> => {
    const { reading, known } = await readSeries(feed, series, atMs);
    const since = (reading.observedDay ?? toDay(atMs)) - window.days;
    const correlated = correlateReturns(known, btc.known, since, window);
    return { ...reading, ...correlated, change5dPct: computeChange5dPct(known), windowDays: window.days };
  };
  const gold = await read('gold', DAILY_WINDOW);
  return {
    atMs,
    source: feed.source,
    dxy: await read('dxy', DAILY_WINDOW),
    sp500: await read('sp500', DAILY_WINDOW),
    // USD per ounce of gold divided by the BTC close; the correlation is that of gold in USD.
    goldBtcRatio: { ...gold, value: divide(gold.value, btc.reading.value), change5dPct: null, stale: gold.stale || btc.reading.stale },
    ismPmi: await read('pmi', MONTHLY_WINDOW),
  };
}

function divide(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null ? null : dividend / divisor;
}

function computeChange5dPct({ values }: Observations): number | null {
  const last = values.length - 1;
  return last >= 5 ? (values[last] / values[last - 5] - 1) * 100 : null;
}
