import type { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { isOwnVenue } from '../own-venue.ts';
import type { PREDICTION_MARKET } from '../schemas/scorecard.ts';

export interface MarketComparisonDeps {
  record: ForecastRecord;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same order book, `venueName` included. */
  sameBook: readonly string[];
  now(): Date;
}

export type MarketComparison = z.input<typeof PREDICTION_MARKET>;

export async function compareWithMarket({ record, wagers, venueName, sameBook, now }: MarketComparisonDeps): Promise<MarketComparison> {
  // Wagers of days with a pending forecast are excluded: the difference between two responses would reveal the model's side.
  const through = await record.getLastPublicDay(now());
  const { weight: weightGivenToModel, settledMarkets, modelLogLoss, marketLogLoss } = await wagers.compareWithMarket(sameBook, through);
  const { wins, losses } = await wagers.countOutcomes(through);
  return {
    venue: venueName,
    quotesAreOurs: sameBook.some(isOwnVenue),
    throughDate: formatDay(through),
    settledMarkets,
    modelLogLoss,
    marketLogLoss,
    weightGivenToModel,
    wagers: { wins, losses },
  };
}
