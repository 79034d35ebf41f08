import { type Day, dayOf } from '../forecast/day.ts';
import { type FearGreedLabel, fearGreedLabel } from './fear-greed.ts';
import type { Feed, FeedKind, SpotPrice } from './feed.ts';
import { knownAt, type Observations } from './observations.ts';
import { SERIES } from './series.ts';

/** The public market figures, each as known at one instant; null where nothing recent enough is known. */
export interface MarketContext {
  atMs: number;
  kind: FeedKind;
  source: string;
  btcPrice: number;
  change24hPct: number | null;
  fearGreed: number | null;
  fearGreedLabel: FearGreedLabel | null;
  /** Sums of the flows dated within the last 7 and 30 calendar days, today included, in USD. */
  etfFlows7dUsd: number | null;
  etfFlows30dUsd: number | null;
  /** The latest flow, in USD. */
  etfFlowLastDayUsd: number | null;
  /** When each figure was made or published (ms). */
  observedAt: { btcPrice: number; fearGreed: number | null; etfFlows: number | null };
  /** Where each figure comes from. */
  sources: { btcPrice: string; fearGreed: string; etfFlows: string };
}

const MILLION = 1_000_000;

/** Puts the public figures together from what the feed knew at `atMs`. @throws what the feed throws */
export async function marketContext(feed: Feed, spot: SpotPrice, atMs: number): Promise<MarketContext> {
  const today = dayOf(atMs);
  const sentiment = knownAt(await feed.observations('fearGreed', atMs), atMs);
  const flows = knownAt(await feed.observations('etfFlow', atMs), atMs);
  const mood = latest(sentiment, today - SERIES.fearGreed.staleDays);
  const fearGreed = mood === null ? null : Math.round(mood.value);
  const lastFlow = latest(flows, today - SERIES.etfFlow.staleDays);
  return {
    atMs,
    kind: feed.kind,
    source: feed.source,
    btcPrice: spot.priceUsd,
    change24hPct: spot.change24hPct,
    fearGreed,
    fearGreedLabel: fearGreed === null ? null : fearGreedLabel(fearGreed),
    etfFlows7dUsd: flowSum(flows, today - 6),
    etfFlows30dUsd: flowSum(flows, today - 29),
    etfFlowLastDayUsd: lastFlow ? inDollars(lastFlow.value) : null,
    observedAt: { btcPrice: spot.observedAtMs, fearGreed: mood?.availableAt ?? null, etfFlows: lastFlow?.availableAt ?? null },
    sources: { btcPrice: spot.source, fearGreed: sentiment.source, etfFlows: flows.source },
  };
}

/** The last observation, if it is dated `since` or later. */
function latest({ days, values, availableAt }: Observations, since: Day): { value: number; availableAt: number } | null {
  const index = days.length - 1;
  return index >= 0 && days[index] >= since ? { value: values[index], availableAt: availableAt[index] } : null;
}

function flowSum({ days, values }: Observations, since: Day): number | null {
  let sum = 0;
  let index = days.length - 1;
  for (; index >= 0 && days[index] >= since; index--) sum += values[index];
  return index === days.length - 1 ? null : inDollars(sum);
}

/** Providers give flows in millions with one decimal: without rounding, products and sums end in binary dust. */
function inDollars(millions: number): number {
  return Math.round(millions * MILLION);
}
