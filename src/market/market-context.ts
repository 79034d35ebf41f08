import { type Day, toDay } from '../forecast/day.ts';
import type { Feed, FeedKind, SpotPrice } from './feed.ts';
import { type FearGreedLabel, getFearGreedLabel } from './series/fear-greed-label.ts';
import { type Observations, sliceKnownAt } from './series/observations.ts';
import { SERIES } from './series/series.ts';

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
export async function buildMarketContext(feed: Feed, spot: SpotPrice, atMs: number): Promise<MarketContext> {
  const today = toDay(atMs);
  const sentiment = sliceKnownAt(await feed.observations('fearGreed', atMs), atMs);
  const flows = sliceKnownAt(await feed.observations('etfFlow', atMs), atMs);
  const latestSentiment = findLatest(sentiment, today - SERIES.fearGreed.staleDays);
  const fearGreed = latestSentiment === null ? null : Math.round(latestSentiment.value);
  const lastFlow = findLatest(flows, today - SERIES.etfFlow.staleDays);
  return {
    atMs,
    kind: feed.kind,
    source: feed.source,
    btcPrice: spot.priceUsd,
    change24hPct: spot.change24hPct,
    fearGreed,
    fearGreedLabel: fearGreed === null ? null : getFearGreedLabel(fearGreed),
    etfFlows7dUsd: sumFlowsSince(flows, today - 6),
    etfFlows30dUsd: sumFlowsSince(flows, today - 29),
    etfFlowLastDayUsd: lastFlow ? toUsd(lastFlow.value) : null,
    observedAt: { btcPrice: spot.observedAtMs, fearGreed: latestSentiment?.availableAt ?? null, etfFlows: lastFlow?.availableAt ?? null },
    sources: { btcPrice: spot.source, fearGreed: sentiment.source, etfFlows: flows.source },
  };
}

/** The last observation, if it is dated `since` or later. */
function findLatest({ days, values, availableAt }: Observations, since: Day): { value: number; availableAt: number } | null {
  const index = days.length - 1;
  return index >= 0 && days[index] >= since ? { value: values[index], availableAt: availableAt[index] } : null;
}

function sumFlowsSince({ days, values }: Observations, since: Day): number | null {
  let sum = 0;
  let index = days.length - 1;
  for (; index >= 0 && days[index] >= since; index--) sum += values[index];
  return index === days.length - 1 ? null : toUsd(sum);
}

/** Providers give flows in millions with one decimal: without rounding, products and sums end in binary dust. */
function toUsd(millions: number): number {
  return Math.round(millions * MILLION);
}
