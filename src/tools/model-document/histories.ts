import type { PointInTimeFrame } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { EXPECTED_FOLDS } from '../../forecast/backtest/out-of-sample.ts';
import { type Day, toInstantMs } from '../../forecast/day.ts';
import type { InputFrame } from '../../forecast/input-frame.ts';
import { getBlockStart, HORIZONS } from '../../forecast/model.ts';
import { openCsvFeed } from '../../market/csv/feed.ts';
import type { Feed } from '../../market/feed.ts';
import { createMarket } from '../../market/market.ts';
import { openSimulatedFeed } from '../../market/simulated/feed.ts';
import { getVintages, readHistoryThrough, readPointInTimeFrames } from '../../pipeline/self-test/history.ts';

export interface ModelHistory {
  source: string;
  frame: InputFrame;
  /** Point-in-time data of some days. */
  pointInTime(): Promise<PointInTimeFrame[]>;
  vintages: Vintages;
}

/** First day with all outcomes of the expected folds. */
export const LAST_SIMULATED_DAY: Day = getBlockStart(EXPECTED_FOLDS) - 1 + Math.max(...HORIZONS);

export function loadSimulatedHistory(): Promise<ModelHistory> {
  return loadHistory(openSimulatedFeed(), LAST_SIMULATED_DAY);
}

/** The history of a CSV folder. @throws OracleError FEED_INVALID naming file and line */
export async function loadRecordedHistory(folder: string): Promise<ModelHistory> {
  const feed = await openCsvFeed(folder);
  const { lastDay } = await feed.coverage();
  return loadHistory(feed, lastDay!);
}

async function loadHistory(feed: Feed, lastDay: Day): Promise<ModelHistory> {
  const market = createMarket(feed);
  const { frame } = await readHistoryThrough(market, lastDay, new Date(toInstantMs(lastDay + 1)));
  return { source: feed.source, frame, pointInTime: () => readPointInTimeFrames(market, frame), vintages: getVintages(market) };
}
