import { chooseAuditDays } from '../../forecast/backtest/contamination/audit-days.ts';
import type { PointInTimeFrame } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { type Day, toInstantMs } from '../../forecast/day.ts';
import type { InputFrame } from '../../forecast/input-frame.ts';
import type { FeedKind } from '../../market/feed.ts';
import type { DayInputs } from '../../market/inputs/day-inputs.ts';
import type { Market } from '../../market/market.ts';
import { getSignalTimeMs } from '../../market/signal-time.ts';
import { isOracleError } from '../../platform/errors.ts';

const HOUR_MS = 3_600_000;

export function readHistoryThrough(market: Market, lastDay: Day, now: Date): Promise<DayInputs> {
  return market.inputs(lastDay, now.getTime());
}

/** As available at 21:35 UTC of each audited day; else with the daily close, and without both the day is skipped. */
export async function readPointInTimeFrames(market: Market, history: InputFrame): Promise<PointInTimeFrame[]> {
  const frames: PointInTimeFrame[] = [];
  for (const day of chooseAuditDays(history)) {
    const inputs =
      (await readInputsAt(market, day, getSignalTimeMs(day))) ?? (await readInputsAt(market, day, toInstantMs(day + 1) + HOUR_MS));
    if (inputs !== null) frames.push({ day, frame: inputs.frame });
  }
  return frames;
}

const VINTAGES_BY_FEED: Record<FeedKind, Vintages> = { live: 'collected', simulated: 'made', csv: 'none' };

export function getVintages({ kind }: Pick<Market, 'kind'>): Vintages {
  return VINTAGES_BY_FEED[kind];
}

async function readInputsAt(market: Market, day: Day, atMs: number): Promise<DayInputs | null> {
  try {
    return await market.inputs(day, atMs);
  } catch (error) {
    if (isOracleError(error, 'PRICE_UNAVAILABLE') || isOracleError(error, 'HISTORY_TOO_SHORT')) return null;
    throw error;
  }
}
