import { type Day, toDay, toInstantMs } from '../../forecast/day.ts';
import type { SpotPrice, VenueClose } from '../feed.ts';
import { findValueAt } from '../series/lookback.ts';
import type { Observations } from '../series/observations.ts';
import { getSignalTimeMs } from '../signal-time.ts';

/** Spot price of a feed that has daily closes only: the close of day t stands for the price from 21:35 UTC of t. Null without a close of today. */
export function findSpotFromCloses(closes: Observations, atMs: number): Omit<SpotPrice, 'source'> | null {
  const today = toDay(atMs);
  const isSignalTime = atMs >= getSignalTimeMs(today);
  const day = isSignalTime ? today : today - 1;
  const priceUsd = findValueAt(closes, day);
  if (priceUsd === null || findValueAt(closes, today) === null) return null;
  const observedAtMs = isSignalTime ? getSignalTimeMs(today) : toInstantMs(today);
  return { priceUsd, observedAtMs, change24hPct: computeChange24hPct(findValueAt(closes, day - 1), priceUsd) };
}

/** Unrounded percentage; null without a price of 24 hours before. */
export function computeChange24hPct(before: number | null, priceUsd: number): number | null {
  return before === null ? null : (priceUsd / before - 1) * 100;
}

interface StoredClose {
  day: Day;
  atMs: number;
  priceUsd: number | null;
  /** Reason to report when the candle is closed and `priceUsd` is null. */
  missingReason: string;
}

/** A stored close as a venue's close, which stays hidden until its candle has closed. */
export function toVenueClose(venue: string, { day, atMs, priceUsd, missingReason }: StoredClose): VenueClose {
  if (atMs < toInstantMs(day + 1)) return { venue, priceUsd: null, reason: 'the day is still running' };
  return priceUsd === null ? { venue, priceUsd, reason: missingReason } : { venue, priceUsd };
}
