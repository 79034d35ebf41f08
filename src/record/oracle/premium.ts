import type { HorizonName } from '../../forecast/model.ts';
import type { CategoryName, CategoryScore } from '../../forecast/signal.ts';
import { type PublishedSummary, toPublishedSummary } from '../../forecast/statistics/published-summary.ts';
import type { Caller } from '../caller.ts';
import type { DayDoc } from '../day-record.ts';
import { type MarketComparison, marketComparison } from '../market-comparison.ts';
import { type CurrentRegime, currentRegime } from '../regime-history.ts';
import type { RecordDetails } from '../statistics/desk.ts';
import { type Missing, orMissing } from './missing.ts';
import { type ModelDetails, modelDetails } from './model-details.ts';
import { type NearStrike, nearStrikes } from './near-strikes.ts';
import type { MadeForecast } from './newest.ts';
import type { OracleParts } from './parts.ts';
import { type RecentAccuracy, recentAccuracy } from './recent-accuracy.ts';
import { horizonRecord, type OracleSignal } from './signal.ts';
import { type Thresholds, thresholdsOf } from './thresholds.ts';

/** The Basic answer and everything that it rests on (interface, section 2.2). What cannot be had is null and listed in `missing`. */
export interface PremiumSignal extends OracleSignal {
  /** Public figures at signal time. */
  marketContext: { fearGreed: number | null; etfFlows7d: number | null };
  market_context: { btc_price: number; fear_greed: number | null; etf_flow_7d: number | null };
  accuracy: Omit<RecentAccuracy, 'accuracy'> & { last30d: number };
  categories: Record<CategoryName, CategoryScore> | null;
  thresholds: Thresholds;
  regimeDetail: CurrentRegime | null;
  /** Of the price at resolution, by rising level. */
  quantiles: { level: number; price: number }[];
  strikes: NearStrike[];
  predictionMarket: MarketComparison;
  model: ModelDetails | null;
  scorecard: { horizon: HorizonName; summary: PublishedSummary } & RecordDetails;
  missing: Missing[];
}

/** @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function premiumSignal(parts: OracleParts, horizonDays: number, caller: Caller): Promise<PremiumSignal> {
  const now = parts.now();
  const { docs, newest, summary, signal } = await horizonRecord(parts, horizonDays, caller);
  const day = (await parts.record.day(newest.day)) as DayDoc;
  const missing: Missing[] = [];
  const model = await orMissing(missing, 'model', () => parts.models.get(newest.modelVersion));
  const [regimeDetail, strikes, predictionMarket, details] = await Promise.all([
    orMissing(missing, 'regimeDetail', () => currentRegime(parts, now)),
    nearStrikes({ parts, day, model }, missing),
    marketComparison(parts),
    parts.statistics.details(docs, horizonDays),
  ]);
  const { accuracy: last30d, ...accuracy } = recentAccuracy(docs, { horizonDays, days: 30, now });
  return {
    ...signal,
    ...contextOf(day, signal.btcPrice, missing),
    accuracy: { last30d: last30d ?? 0, ...accuracy },
    categories: day.categories,
    thresholds: thresholdsOf(newest),
    regimeDetail,
    quantiles: quantilesOf(newest),
    strikes,
    predictionMarket,
    model: model && modelDetails(model, newest),
    scorecard: { horizon: signal.horizon, summary: toPublishedSummary(summary), ...details },
    missing,
  };
}

function contextOf({ context }: DayDoc, btcPrice: number, missing: Missing[]): Pick<PremiumSignal, 'marketContext' | 'market_context'> {
  const fearGreed = context?.fearGreed ?? null;
  const etfFlows7d = context?.etfFlows7dUsd ?? null;
  const reason = 'no recent enough value was known at signal time';
  if (fearGreed === null) missing.push({ part: 'marketContext.fearGreed', reason });
  if (etfFlows7d === null) missing.push({ part: 'marketContext.etfFlows7d', reason });
  return {
    marketContext: { fearGreed, etfFlows7d },
    market_context: { btc_price: btcPrice, fear_greed: fearGreed, etf_flow_7d: etfFlows7d },
  };
}

/** Stored under keys such as `p05`; prices to the cent. */
export function quantilesOf({ values: { priceQuantiles } }: MadeForecast): PremiumSignal['quantiles'] {
  return Object.entries(priceQuantiles)
    .map(([key, price]) => ({ level: Number(key.slice(1)) / 100, price: Math.round(price * 100) / 100 }))
    .sort((a, b) => a.level - b.level);
}
