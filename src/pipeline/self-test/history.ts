import { isOracleError } from '../../errors.ts';
import { auditDays } from '../../forecast/backtest/contamination/audit-days.ts';
import type { PointInTime } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { type Day, instantOf } from '../../forecast/day.ts';
import type { InputFrame } from '../../forecast/frame.ts';
import type { FeedKind } from '../../market/feed.ts';
import type { DayInputs } from '../../market/inputs.ts';
import type { Market } from '../../market/market.ts';
import { signalInstant } from '../../market/signal-time.ts';

const HOUR_MS = 3_600_000;

/** The whole history through a day that is over. @throws OracleError PRICE_UNAVAILABLE, HISTORY_TOO_SHORT */
export function historyThrough(market: Market, lastDay: Day, now: Date): Promise<DayInputs> {
  return market.inputs(lastDay, now.getTime());
}

/**
 * What forecasts of past days of a history could look at, each at 21:35 UTC of its day. Of a feed that keeps no prices of that minute
 * the close stands for it; a day that has neither is left out.
 */
export async function pointInTimeFrames(market: Market, history: InputFrame): Promise<PointInTime[]> {
  const frames: PointInTime[] = [];
  for (const day of auditDays(history)) {
    const inputs = (await knownAt(market, day, signalInstant(day))) ?? (await knownAt(market, day, instantOf(day + 1) + HOUR_MS));
    if (inputs !== null) frames.push({ day, frame: inputs.frame });
  }
  return frames;
}

const VINTAGES_OF: Record<FeedKind, Vintages> = { live: 'collected', simulated: 'made', csv: 'none' };

/** Where the frames of the past come from. */
export function vintagesOf({ kind }: Pick<Market, 'kind'>): Vintages {
  return VINTAGES_OF[kind];
}

async function knownAt(market: Market, day: Day, atMs: number): Promise<DayInputs | null> {
  try {
    return await market.inputs(day, atMs);
  } catch (error) {
    if (isOracleError(error, 'PRICE_UNAVAILABLE') || isOracleError(error, 'HISTORY_TOO_SHORT')) return null;
    throw error;
  }
}
