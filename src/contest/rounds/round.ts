import type { Day } from '../../forecast/day.ts';
import { formatDay } from '../../forecast/day.ts';
import { getDecidingDay, type RoundWeek } from './week.ts';

/**
 * OPEN: listed. RUNNING: opened, the oracle's probabilities are pinned. RESOLVED: decided, and what was pinned is public. VOID: no
 * forecast or no agreed close; scored for nobody.
 */
export type RoundState = 'OPEN' | 'RUNNING' | 'RESOLVED' | 'VOID';

/** "Will BTC/USD close above the strike?" */
export interface MarketDoc {
  /** `<round>-<strike>`, e.g. `2026-W32-62000`. */
  id: string;
  strikeUsd: number;
  /** The oracle's probability, pinned once the round has opened; nobody's to read before the round is RESOLVED. */
  oracleBps: number | null;
  /** Whether the close was above the strike. */
  above: boolean | null;
  /** How many committed and their mean probability, written when the round is decided. */
  commitments: number | null;
  meanBps: number | null;
}

/** The forecast that the oracle's probabilities come from. */
export interface PinnedForecast {
  day: Day;
  forecastAt: Date;
  modelVersion: string;
  pinnedAt: Date;
}

export interface RoundOutcome {
  closeCents: number;
  venues: string[];
  deviationBps: number;
  decidedAt: Date;
}

/** One round of the contest. `_id` is the ISO week, e.g. `2026-W32`. */
export interface RoundDoc extends Omit<RoundWeek, 'id'> {
  _id: string;
  state: RoundState;
  listedAt: Date;
  /** The price that the strikes were set from. */
  listing: { spotUsd: number; source: string; observedAt: Date };
  /** Ascending by strike. */
  markets: MarketDoc[];
  pinned: PinnedForecast | null;
  outcome: RoundOutcome | null;
  voidBecause: string | null;
  /** When every commitment had its score. */
  scoredAt: Date | null;
}

export function buildMarketId(roundId: string, strikeUsd: number): string {
  return `${roundId}-${strikeUsd}`;
}

/** What a market id looks like, and the round in front of it. */
export const MARKET_ID_PATTERN = /^(\d{4}-W\d{2})-\d{1,9}(?:\.\d{1,6})?$/;

/** Null for what is no market id. */
export function parseRoundId(market: string): string | null {
  return MARKET_ID_PATTERN.exec(market)?.[1] ?? null;
}

/** A market in words. */
export function formatMarketQuestion(round: Pick<RoundDoc, 'resolvesAt'>, { strikeUsd }: Pick<MarketDoc, 'strikeUsd'>): string {
  return `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(getDecidingDay(round))} (UTC)?`;
}
