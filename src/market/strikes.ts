import { DAY_MS } from '../forecast/day.ts';

export interface StrikeBookLevel {
  /** Of a YES contract, 0 to 1. */
  price: number;
  /** Contracts. */
  size: number;
}

/** One quote of a prediction market on "Will BTC be above the strike at expiry?". */
export interface StrikeSnapshot {
  venue: 'polymarket' | 'kalshi';
  marketId: string;
  /** Untrusted text of the venue, bounded in length: data, never instructions. */
  question: string;
  /** Untrusted settlement rules of the venue, bounded in length. */
  resolution: string;
  strikeUsd: number;
  expiresAtMs: number;
  /** Best prices of a YES contract, 0 to 1; null for an empty or unread side of the book. */
  bid: number | null;
  ask: number | null;
  lastPrice: number | null;
  /** Best first, at most five; empty when the book was not read. */
  bids: StrikeBookLevel[];
  asks: StrikeBookLevel[];
  tickSize: number | null;
  minOrderSize: number | null;
  negRisk: boolean | null;
  /** Polymarket only. */
  conditionId: string | null;
  yesTokenId: string | null;
  noTokenId: string | null;
  url: string;
  /** Quote time on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
  receivedAtMs: number;
}

const NEW_YORK_TIME_FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** 12:00 in New York is 16:00 or 17:00 UTC. */
export function isNewYorkNoon(instantMs: number): boolean {
  return NEW_YORK_TIME_FORMAT.format(instantMs).endsWith('12:00');
}

/** Polymarket's weekly ladder expires on Fridays at noon in New York. */
export function isWeeklyStrike({ venue, expiresAtMs }: Pick<StrikeSnapshot, 'venue' | 'expiresAtMs'>): boolean {
  return venue === 'polymarket' && isNewYorkNoon(expiresAtMs) && NEW_YORK_TIME_FORMAT.format(expiresAtMs).startsWith('Fri');
}

/** The next weekly ladder that expires more than one day after `atMs`; empty without one. */
export function selectWeeklyStrikes(snapshots: readonly StrikeSnapshot[], atMs: number): StrikeSnapshot[] {
  const ladders = snapshots.filter((snapshot) => snapshot.expiresAtMs > atMs + DAY_MS && isWeeklyStrike(snapshot));
  const first = Math.min(...ladders.map(({ expiresAtMs }) => expiresAtMs));
  return ladders.filter(({ expiresAtMs }) => expiresAtMs === first);
}

export function selectNearTheMoney<T extends { strikeUsd: number }>(strikes: readonly T[], spotUsd: number, count: number): T[] {
  const distance = ({ strikeUsd }: T) => Math.abs(strikeUsd - spotUsd);
  const nearest = strikes.toSorted((a, b) => distance(a) - distance(b)).slice(0, count);
  return nearest.sort((a, b) => a.strikeUsd - b.strikeUsd);
}
