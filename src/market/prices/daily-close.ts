import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed } from '../feed.ts';
import { computeQuorumPrice, type QuorumPrice, type QuorumRule } from './quorum.ts';

export interface DailyClose extends QuorumPrice {
  day: Day;
}

/** @throws OracleError PRICE_UNAVAILABLE before the candle closes */
export function requireClosedDay(day: Day, atMs: number): void {
  const closesAtMs = toInstantMs(day + 1);
  if (atMs >= closesAtMs) return;
  throw new OracleError('PRICE_UNAVAILABLE', `The candle of ${formatDay(day)} closes at ${new Date(closesAtMs).toISOString()}`);
}

/** The quorum price of a closed day. @throws OracleError PRICE_UNAVAILABLE with the reason when venues do not agree */
export async function getDailyClose(feed: Feed, day: Day, atMs: number, rule: QuorumRule): Promise<DailyClose> {
  const closes = await feed.dailyCloses(day, atMs);
  try {
    return { day, ...computeQuorumPrice(closes, rule) };
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    throw new OracleError(error.code, `Close of ${formatDay(day)}: ${error.message}`, { cause: error });
  }
}
