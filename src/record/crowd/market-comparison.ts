import type { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { isOwnVenue } from '../own-venue.ts';
import type { PREDICTION_MARKET } from '../schemas/scorecard.ts';
import type { CrowdFiguresReader } from './crowd-figures.ts';

export interface MarketComparisonDeps {
  record: ForecastRecord;
  wagers: WagerBook;
  crowd: CrowdFiguresReader;
  venueName: string;
  /** Names of the venues that quote the same order book, `venueName` included. */
  sameBook: readonly string[];
  now(): Date;
}

export type MarketComparison = z.input<typeof PREDICTION_MARKET>;

export async function compareWithMarket({ record, crowd, venueName, sameBook, now }: MarketComparisonDeps): Promise<MarketComparison> {
  // Wagers of days with a pending forecast are excluded: the difference between two responses would reveal the model's side.
  const through = await record.getLastPublicDay(now());
  const { headToHead, outcomes } = await crowd.get(through);
  const { weight: weightGivenToModel, settledMarkets, modelLogLoss, marketLogLoss } = headToHead;
  return {
    venue: venueName,
    quotesAreOurs: sameBook.some(isOwnVenue),
    throughDate: formatDay(through),
    settledMarkets,
    modelLogLoss,
    marketLogLoss,
    weightGivenToModel,
    wagers: outcomes,
  };
}
