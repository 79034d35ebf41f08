import { type Day, formatDay } from '../../forecast/day.ts';
import { getDecidingDay, type RoundWeek } from './week.ts';

/** RUNNING: opened, the oracle's probabilities pinned; RESOLVED makes them public. VOID: without forecast or close, not scored. */
export type RoundState = 'OPEN' | 'RUNNING' | 'RESOLVED' | 'VOID';

/** "Will BTC/USD close above the strike?" */
export interface MarketDoc {
  /** `<round>-<strike>`, e.g. `2026-W32-62000`. */
  id: string;
  strikeUsd: number;
  /** The oracle's probability, pinned at the opening; hidden until the round is RESOLVED. */
  oracleBps: number | null;
  above: boolean | null;
  commitments: number | null;
  meanBps: number | null;
}

/** A round; `_id` is its ISO week, e.g. `2026-W32`. */
export interface RoundDoc extends Omit<RoundWeek, 'id'> {
  _id: string;
  state: RoundState;
  listedAt: Date;
  listing: { spotUsd: number; source: string; observedAt: Date };
  markets: MarketDoc[];
  pinned: { day: Day; forecastAt: Date; modelVersion: string; pinnedAt: Date } | null;
  outcome: { closeCents: number; venues: string[]; deviationBps: number; decidedAt: Date } | null;
  voidBecause: string | null;
  scoredAt: Date | null;
}

export function buildMarketId(roundId: string, strikeUsd: number): string {
  return `${roundId}-${strikeUsd}`;
}

export const MARKET_ID_PATTERN = /^(\d{4}-W\d{2})-\d{1,9}(?:\.\d{1,6})?$/;

export function parseRoundId(market: string): string | null {
  return MARKET_ID_PATTERN.exec(market)?.[1] ?? null;
}

export function formatMarketQuestion(round: Pick<RoundDoc, 'resolvesAt'>, { strikeUsd }: Pick<MarketDoc, 'strikeUsd'>): string {
  return `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(getDecidingDay(round))} (UTC)?`;
}
