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

/** A whole history as self-tests read it, and where it comes from. */
export interface ModelHistory {
  source: string;
  frame: InputFrame;
  /** What was known on some of its days. */
  pointInTime(): Promise<PointInTimeFrame[]>;
  vintages: Vintages;
}

/** The first day on which the outcomes of all days of all expected folds are known. */
export const LAST_SIMULATED_DAY: Day = getBlockStart(EXPECTED_FOLDS) - 1 + Math.max(...HORIZONS);

/** The simulated market until a day that never changes: the same history for everybody. */
export function loadSimulatedHistory(): Promise<ModelHistory> {
  return loadHistory(openSimulatedFeed(), LAST_SIMULATED_DAY);
}

/** All that a folder of files holds. @throws OracleError FEED_INVALID naming file and line */
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
