import { type Day, toDay } from '../forecast/day.ts';
import type { Feed, SpotPrice } from './feed.ts';
import { millionsToUsd, roundOrNull } from './numbers.ts';
import { sumFlowsUsd } from './reports/etf/flow-figures.ts';
import { getFearGreedLabel } from './series/fear-greed-label.ts';
import { type Observations, sliceKnownAt } from './series/observations.ts';
import { SERIES } from './series/series.ts';

/** Public market figures as of one instant. A figure is null when its series is missing or stale. */
export type MarketContext = Awaited<ReturnType<typeof buildMarketContext>>;

/** Composes the public figures known at `atMs`. @throws the errors of the feed */
export async function buildMarketContext(feed: Feed, spot: SpotPrice, atMs: number) {
  const today = toDay(atMs);
  const sentiment = sliceKnownAt(await feed.observations('fearGreed', atMs), atMs);
  const flows = sliceKnownAt(await feed.observations('etfFlow', atMs), atMs);
  const lastSentiment = findLatest(sentiment, today - SERIES.fearGreed.staleDays);
  const lastFlow = findLatest(flows, today - SERIES.etfFlow.staleDays);
  const fearGreed = roundOrNull(lastSentiment?.value ?? null, 0);
  return {
    atMs,
    kind: feed.kind,
    source: feed.source,
    btcPrice: spot.priceUsd,
    change24hPct: spot.change24hPct,
    fearGreed,
    fearGreedLabel: fearGreed === null ? null : getFearGreedLabel(fearGreed),
    // Net flows of calendar days, today included.
    etfFlows7dUsd: sumFlowsUsd(flows, today, 7),
    etfFlows30dUsd: sumFlowsUsd(flows, today, 30),
    etfFlowLastDayUsd: millionsToUsd(lastFlow?.value ?? null),
    // Publication time of each figure (ms).
    observedAt: { btcPrice: spot.observedAtMs, fearGreed: lastSentiment?.availableAt ?? null, etfFlows: lastFlow?.availableAt ?? null },
    sources: { btcPrice: spot.source, fearGreed: sentiment.source, etfFlows: flows.source },
  };
}

/** The last observation unless it is dated before `since`. */
function findLatest({ days, values, availableAt }: Observations, since: Day): { value: number; availableAt: number } | null {
  const index = days.length - 1;
  return index >= 0 && days[index] >= since ? { value: values[index], availableAt: availableAt[index] } : null;
}
