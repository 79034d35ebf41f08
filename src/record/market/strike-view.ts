import { isWeeklyStrike, type StrikeSnapshot, selectNearTheMoney } from '../../market/strikes.ts';
import { roundTo } from '../../platform/round.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import { isOwnVenue } from '../own-venue.ts';

const STALE_AFTER_MS = 30 * 60_000;

export interface TrackedStrike
  extends Pick<StrikeSnapshot, 'marketId' | 'question' | 'strikeUsd' | 'bid' | 'ask' | 'lastPrice' | 'bids' | 'asks'> {
  venue: string;
  resolution: string | null;
  expiresAt: Date;
  weekly: boolean;
  url: string | null;
  madeByService: boolean;
  observedAt: Date;
  providerAt: Date | null;
}

export function toSnapshotStrike(snapshot: StrikeSnapshot): TrackedStrike {
  const { venue, marketId, question, resolution, strikeUsd, bid, ask, lastPrice, bids, asks, url, providerAtMs } = snapshot;
  return {
    venue,
    marketId,
    question,
    resolution,
    strikeUsd,
    bid,
    ask,
    lastPrice,
    bids,
    asks,
    url,
    expiresAt: new Date(snapshot.expiresAtMs),
    weekly: isWeeklyStrike(snapshot),
    madeByService: false,
    observedAt: new Date(snapshot.receivedAtMs),
    providerAt: providerAtMs === null ? null : new Date(providerAtMs),
  };
}

/** A strike of the service's own venue, which lists weekly strikes only. */
export function toVenueStrike(venue: string, { market, quote }: { market: StrikeMarket; quote: Quote }): TrackedStrike {
  const { id, question, strikeUsd, expiresAt } = market;
  const { bid, ask, at } = quote;
  return {
    venue,
    marketId: id,
    question,
    strikeUsd,
    expiresAt,
    bid,
    ask,
    resolution: null,
    weekly: true,
    lastPrice: null,
    bids: [],
    asks: [],
    url: null,
    madeByService: isOwnVenue(venue),
    observedAt: at,
    providerAt: at,
  };
}

export interface StrikeViewOptions {
  spotUsd: number | null;
  now: Date;
  gated: boolean;
  /** P(price above the strike) by the model; null before the first forecast. */
  probability: ((strike: TrackedStrike) => number) | null;
}

export type StrikeView = ReturnType<typeof viewStrike>;

export function viewStrikes(strikes: readonly TrackedStrike[], options: StrikeViewOptions): StrikeView[] {
  const central = findAtTheMoney(strikes, options.spotUsd);
  return strikes
    .toSorted((a, b) => +a.expiresAt - +b.expiresAt || a.venue.localeCompare(b.venue) || a.strikeUsd - b.strikeUsd)
    .map((strike) => viewStrike(strike, central.has(strike), options));
}

function viewStrike(tracked: TrackedStrike, central: boolean, { now, gated, probability }: StrikeViewOptions) {
  const { expiresAt, observedAt, providerAt, ...strike } = tracked;
  const ageMs = Math.max(0, now.getTime() - observedAt.getTime());
  const yesPrice = computeYesPrice(tracked);
  return {
    ...strike,
    strike: strike.strikeUsd,
    expiresAt: expiresAt.toISOString(),
    atTheMoney: central,
    yesPrice,
    noPrice: yesPrice === null ? null : roundProbability(1 - yesPrice),
    observedAt: observedAt.toISOString(),
    providerTime: providerAt?.toISOString() ?? null,
    ageSeconds: Math.round(ageMs / 1000),
    stale: ageMs > STALE_AFTER_MS,
    modelProbability: gated || probability === null ? null : roundProbability(probability(tracked)),
    modelProbabilityGated: gated,
  };
}

function findAtTheMoney(strikes: readonly TrackedStrike[], spotUsd: number | null): Set<TrackedStrike> {
  if (spotUsd === null) return new Set();
  const ladders = Map.groupBy(strikes, ({ venue, expiresAt }) => `${venue} ${expiresAt.getTime()}`);
  return new Set([...ladders.values()].flatMap((ladder) => selectNearTheMoney(ladder, spotUsd, 1)));
}

function computeYesPrice({ bid, ask, lastPrice }: TrackedStrike): number | null {
  return bid === null || ask === null ? lastPrice : roundProbability((bid + ask) / 2);
}

/** Finer than any tick. */
function roundProbability(probability: number): number {
  return roundTo(probability, 4);
}
