import { formatDay } from '../../forecast/day.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { ForecastRecord } from '../forecast-record.ts';

export interface MarketComparisonDeps {
  record: ForecastRecord;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  now(): Date;
}

/**
 * Model against market on settled markets of the venue's own book. Quotes of the paper venue are made by this service: winning against
 * them proves nothing.
 */
export interface MarketComparison {
  venue: string;
  quotesAreOurs: boolean;
  /** Last day whose wager is in these figures, `YYYY-MM-DD`. */
  throughDate: string;
  settledMarkets: number;
  /** Mean log loss, natural logarithm; null before the first settled market. */
  modelLogLoss: number | null;
  marketLogLoss: number | null;
  weightGivenToModel: number;
  wagers: { wins: number; losses: number };
}

export async function compareWithMarket({ record, wagers, venueName, sameBook, now }: MarketComparisonDeps): Promise<MarketComparison> {
  // Wagers of days with a pending forecast are left out: a difference between two answers would tell what the model said of one.
  const through = await record.getLastPublicDay(now());
  const { settledMarkets, modelLogLoss, marketLogLoss, weight } = await wagers.compareWithMarket(sameBook, through);
  const { wins, losses } = await wagers.countOutcomes(through);
  return {
    venue: venueName,
    quotesAreOurs: sameBook.includes('paper'),
    throughDate: formatDay(through),
    settledMarkets,
    modelLogLoss,
    marketLogLoss,
    weightGivenToModel: weight,
    wagers: { wins, losses },
  };
}
