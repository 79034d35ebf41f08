import type { z } from 'zod';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import { computeCrowdAccuracy } from '../crowd/crowd-accuracy.ts';
import type { CrowdFiguresReader } from '../crowd/crowd-figures.ts';
import { type CrowdPin, isSettledPin, readPins, type SettledPin } from '../crowd/crowd-pins.ts';
import { compareWithMarket, type MarketComparison } from '../crowd/market-comparison.ts';
import { compareWeekly } from '../crowd/weekly-comparison.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { POLYMARKET_COMPARISON } from './schemas/polymarket-comparison.ts';

export type PolymarketComparison = z.output<typeof POLYMARKET_COMPARISON>;

export interface PolymarketComparisonDeps {
  record: ForecastRecord;
  wagers: WagerBook;
  crowd: CrowdFiguresReader;
  /** The venue of new wagers, and the names of all venues of its order book. */
  venue: { name: string; sameBook: readonly string[] };
  now: Date;
}

const OWN_QUOTES_NOTE =
  'NOT A REAL MARKET: these quotes are made by the paper venue of this service, from its own volatility forecast. Matching or beating them proves nothing.';
const GATED_NOTE = 'It covers days up to `throughDate`, whose forecasts are public. Later days would disclose an unresolved forecast.';
const FIRST_PRICE_NOTE =
  "Each market counts once, by its first pinned price, beside the model's probability of the same strike at the same time.";

export async function composePolymarketComparison(deps: PolymarketComparisonDeps) {
  const { record, wagers, crowd, venue, now } = deps;
  const [all, through] = await Promise.all([readPins(deps), record.getLastPublicDay(now)]);
  const comparison = { record, wagers, crowd, venueName: venue.name, sameBook: venue.sameBook, now: () => now };
  const days = all.filter(({ day, venue: name }) => day <= through && venue.sameBook.includes(name));
  return { report: buildComparisonReport(days, through, await compareWithMarket(comparison)), days };
}

function buildComparisonReport(pins: readonly CrowdPin[], through: Day, headToHead: MarketComparison): PolymarketComparison {
  const settled = pins.filter(isSettledPin);
  const { weeks, market, oracle, brierDifference, logLossDifference, oracleCloser, marketCloser, verdict } = compareWeekly(
    pins,
    through,
  ).totals;
  const { venue, quotesAreOurs, settledMarkets, modelLogLoss, marketLogLoss, weightGivenToModel } = headToHead;
  return {
    verdict: quotesAreOurs ? `against quotes of our own paper venue, which proves nothing: ${verdict}` : verdict,
    venue,
    quotesAreOurs,
    throughDate: formatDay(through),
    accuracy: { market: toAccuracyReport(settled), oracle: toAccuracyReport(settled.map(withOracleProbability)) },
    weekly: { weeks, market, oracle, brierDifference, logLossDifference, oracleCloser, marketCloser },
    weight: { settledMarkets, modelLogLoss, marketLogLoss, weightGivenToModel },
    notes: [...(quotesAreOurs ? [OWN_QUOTES_NOTE] : []), FIRST_PRICE_NOTE, GATED_NOTE],
  };
}

/** The oracle's probability in place of the price, scored by the same rules. */
function withOracleProbability(pin: SettledPin): SettledPin {
  return { ...pin, pMarket: pin.pOracle };
}

function toAccuracyReport(pins: readonly SettledPin[]): PolymarketComparison['accuracy']['market'] {
  const { markets, weeks, calls, hits, hitRate, hitRateInterval95, brier, logLoss } = computeCrowdAccuracy(pins);
  return { markets, weeks, calls, hits, hitRate, hitRateInterval95, brier, logLoss };
}
