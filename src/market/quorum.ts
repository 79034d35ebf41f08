import { OracleError, orElse } from '../errors.ts';
import { type Day, toDay, toInstantMs } from '../forecast/day.ts';
import { type FeedKind, getSignalTimeMs, type PriceRange, type SpotPrice, type VenueClose } from './feed.ts';
import { findValueAt, type Observations } from './series.ts';

export interface QuorumRule {
  minVenues: number;
  maxDeviationBps: number;
}

type QuorumPrice = ReturnType<typeof computeQuorumPrice>;

export const QUORUM_RULES = {
  live: { minVenues: 3, maxDeviationBps: 100 },
  csv: { minVenues: 1, maxDeviationBps: 100 },
  simulated: { minVenues: 1, maxDeviationBps: 100 },
} as const satisfies Record<FeedKind, QuorumRule>;

type PricedClose = VenueClose & { priceUsd: number };

/**
 * Median of the venues in agreement, and the maximum distance of these from it. The farthest outlier is dropped as long as the quorum holds
 * without it.
 * @throws OracleError PRICE_UNAVAILABLE naming the missing venues or the diverging prices
 */
export function computeQuorumPrice(closes: readonly VenueClose[], rule: QuorumRule) {
  const priced = closes.filter(isPriced);
  const minVenues = Math.max(1, rule.minVenues);
  if (priced.length < minVenues) throw tooFewVenues(closes, priced.length, rule);
  for (let participants = priced; ; participants = dropFarthest(participants)) {
    const { priceUsd, deviationBps } = computeSpread(participants);
    if (deviationBps <= rule.maxDeviationBps) return { priceUsd, venues: participants.map(({ venue }) => venue), deviationBps };
    if (participants.length <= minVenues) throw tooFarApart(priced, computeSpread(priced).deviationBps, rule);
  }
}

/** The quorum price; null when there is none. */
export function findQuorumPrice(closes: readonly VenueClose[], rule: QuorumRule): QuorumPrice | null {
  try {
    return computeQuorumPrice(closes, rule);
  } catch (error) {
    return orElse('PRICE_UNAVAILABLE', null)(error);
  }
}

function computeSpread(closes: PricedClose[]): { priceUsd: number; deviationBps: number } {
  const priceUsd = median(closes.map((close) => close.priceUsd));
  return { priceUsd, deviationBps: Math.max(...closes.map((close) => computeDistanceBps(close, priceUsd))) };
}

function computeDistanceBps(close: PricedClose, priceUsd: number): number {
  return (Math.abs(close.priceUsd - priceUsd) / priceUsd) * 10_000;
}

function dropFarthest(closes: PricedClose[]): PricedClose[] {
  const { priceUsd } = computeSpread(closes);
  const farthest = closes.reduce((far, close) => (computeDistanceBps(close, priceUsd) > computeDistanceBps(far, priceUsd) ? close : far));
  return closes.filter((close) => close !== farthest);
}

function isPriced(close: VenueClose): close is PricedClose {
  return close.priceUsd !== null && Number.isFinite(close.priceUsd) && close.priceUsd > 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function tooFewVenues(closes: readonly VenueClose[], count: number, rule: QuorumRule): OracleError {
  const missing = closes.filter((close) => !isPriced(close)).map(({ venue, reason }) => (reason ? `${venue} (${reason})` : venue));
  const which = missing.length > 0 ? `; missing: ${missing.join(', ')}` : '';
  return new OracleError('PRICE_UNAVAILABLE', `${count} of the required ${rule.minVenues} venues have a close${which}`);
}

function tooFarApart(priced: PricedClose[], deviationBps: number, rule: QuorumRule): OracleError {
  const values = priced.map(({ venue, priceUsd }) => `${venue} ${priceUsd}`).join(', ');
  const message = `Venues differ by ${deviationBps.toFixed(1)} bps, more than ${rule.maxDeviationBps}: ${values}`;
  return new OracleError('PRICE_UNAVAILABLE', message);
}

export interface VenueRange extends PriceRange {
  venue: string;
}

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

/** A stored close as a venue's close, hidden until its candle has closed; `missingReason` is reported when it then has no price. */
export function toVenueClose(
  venue: string,
  { day, atMs, priceUsd, missingReason }: { day: Day; atMs: number; priceUsd: number | null; missingReason: string },
): VenueClose {
  if (atMs < toInstantMs(day + 1)) return { venue, priceUsd: null, reason: 'the day is still running' };
  return priceUsd === null ? { venue, priceUsd, reason: missingReason } : { venue, priceUsd };
}

export type DailyClose = QuorumPrice & { day: Day };
