import { isOracleError } from '../../errors.ts';
import { formatDayOrNull } from '../../forecast/day.ts';
import { type Feed, type LatestReading, readSeries, type SeriesReading } from '../feed.ts';
import { computeChange24hPct } from '../quorum.ts';
import type { SeriesId } from '../series.ts';
import { btcPriceReport, fearGreedReport, sthPnlRatioReport } from './bitcoin.ts';
import { derivativesSummaryReport, liquidationHeatmapReport } from './derivatives.ts';
import { etfAnalyticsReport, etfFlowsReport } from './etf.ts';
import { economicIndicatorsReport, interestRatesReport, macroCorrelationReport } from './macro.ts';
import type { MarketReport, ReportEnvelope, ReportedInput, ReportInput, ReportPrice } from './report.ts';

/** A new report is one file and one entry here. */
export const MARKET_REPORTS: readonly MarketReport[] = [
  btcPriceReport,
  fearGreedReport,
  etfFlowsReport,
  macroCorrelationReport,
  etfAnalyticsReport,
  derivativesSummaryReport,
  economicIndicatorsReport,
  interestRatesReport,
  liquidationHeatmapReport,
  sthPnlRatioReport,
];

/**
 * Builds a report in its envelope as known at `atMs`. A price older than `maxSpotAgeMs` is marked stale.
 * @throws OracleError PRICE_UNAVAILABLE when the report needs a price and none was ever known; the errors of the feed
 */
export async function buildReport(report: MarketReport, feed: Feed, atMs: number, maxSpotAgeMs: number): Promise<ReportEnvelope> {
  const input = createReportInput(feed, atMs, maxSpotAgeMs);
  const described = await Promise.all(
    report.dependsOn.map(async (id) =>
      id === 'spot' ? describePrice(await input.spot(), atMs) : describeReading((await input.read(id)).reading),
    ),
  );
  const { observedAtMs } = described[0];
  return {
    success: true,
    ...(await report.build(input)),
    source: feed.source,
    kind: feed.kind,
    timestamp: toIsoTime(observedAtMs),
    asOf: new Date(atMs).toISOString(),
    ageSeconds: observedAtMs === null ? null : computeAgeSeconds(observedAtMs, atMs),
    stale: described.some(({ input: { stale } }) => stale),
    inputs: described.map(({ input }) => input),
  };
}

function createReportInput(feed: Feed, atMs: number, maxSpotAgeMs: number): ReportInput {
  const series = new Map<SeriesId, Promise<SeriesReading>>();
  let price: Promise<ReportPrice> | undefined;
  return {
    feed,
    atMs,
    spot() {
      price ??= getReportPrice(feed, atMs, maxSpotAgeMs);
      return price;
    },
    read(id) {
      const reading = series.get(id) ?? readSeries(feed, id, atMs);
      series.set(id, reading);
      return reading;
    },
  };
}

/** The spot price, or the last daily close marked stale. @throws OracleError PRICE_UNAVAILABLE when no price was ever known */
async function getReportPrice(feed: Feed, atMs: number, maxAgeMs: number): Promise<ReportPrice> {
  try {
    const spot = await feed.spot(atMs);
    return { ...spot, stale: atMs - spot.observedAtMs > maxAgeMs };
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE')) throw error;
    const { reading, known } = await readSeries(feed, 'btcClose', atMs);
    const { value: priceUsd, observedAtMs, source } = reading;
    if (priceUsd === null || observedAtMs === null) throw error;
    const change24hPct = computeChange24hPct(known.values.at(-2) ?? null, priceUsd);
    return { priceUsd, observedAtMs, source: `daily close of ${source}`, change24hPct, stale: true };
  }
}

function describePrice({ source, observedAtMs, stale }: ReportPrice, atMs: number) {
  const lastObserved = new Date(observedAtMs).toISOString();
  const ageSeconds = computeAgeSeconds(observedAtMs, atMs);
  const input: ReportedInput = { series: 'spot', source, lastObserved, observedAt: lastObserved, ageSeconds, stale, provisional: false };
  return { observedAtMs, input };
}

function describeReading({ series, source, observedDay, observedAtMs, ageDays, stale, provisional }: LatestReading) {
  const lastObserved = formatDayOrNull(observedDay);
  return { observedAtMs, input: { series, source, lastObserved, observedAt: toIsoTime(observedAtMs), ageDays, stale, provisional } };
}

function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function computeAgeSeconds(fromMs: number, toMs: number): number {
  return Math.max(0, Math.round((toMs - fromMs) / 1000));
}
