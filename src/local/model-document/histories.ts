import type { PointInTime } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { EXPECTED_FOLDS } from '../../forecast/backtest/out-of-sample.ts';
import { type Day, instantOf } from '../../forecast/day.ts';
import type { InputFrame } from '../../forecast/frame.ts';
import { blockStart, HORIZONS } from '../../forecast/model.ts';
import { openCsvFeed } from '../../market/csv/feed.ts';
import type { Feed } from '../../market/feed.ts';
import { createMarket } from '../../market/market.ts';
import { openSimulatedFeed } from '../../market/simulated/feed.ts';
import { historyThrough, pointInTimeFrames, vintagesOf } from '../../pipeline/self-test/history.ts';

/** A whole history as self-tests read it, and where it comes from. */
export interface History {
  source: string;
  frame: InputFrame;
  /** What was known on some of its days. */
  pointInTime(): Promise<PointInTime[]>;
  vintages: Vintages;
}

/** The first day on which the outcomes of all days of all expected folds are known. */
export const LAST_SIMULATED_DAY: Day = blockStart(EXPECTED_FOLDS) - 1 + Math.max(...HORIZONS);

/** The simulated market until a day that never changes: the same history for everybody. */
export function simulatedHistory(): Promise<History> {
  return historyOf(openSimulatedFeed(), LAST_SIMULATED_DAY);
}

/** All that a folder of files holds. @throws OracleError FEED_INVALID naming file and line */
export async function recordedHistory(folder: string): Promise<History> {
  const feed = await openCsvFeed(folder);
  const { lastDay } = await feed.coverage();
  return historyOf(feed, lastDay!);
}

async function historyOf(feed: Feed, lastDay: Day): Promise<History> {
  const market = createMarket(feed);
  const { frame } = await historyThrough(market, lastDay, new Date(instantOf(lastDay + 1)));
  return { source: feed.source, frame, pointInTime: () => pointInTimeFrames(market, frame), vintages: vintagesOf(market) };
}
