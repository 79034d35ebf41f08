import type { Caller } from '../../auth/caller.ts';
import type { HorizonName } from '../../forecast/model.ts';
import type { CategoryName, CategoryScore } from '../../forecast/signal.ts';
import { type PublishedSummary, toPublishedSummary } from '../../forecast/statistics/published-summary.ts';
import { roundTo } from '../../platform/round.ts';
import { compareWithMarket, type MarketComparison } from '../crowd/market-comparison.ts';
import type { DayDoc } from '../day-doc.ts';
import { listNearStrikes, type NearStrike } from '../market/near-strikes.ts';
import { type CurrentRegime, getCurrentRegime } from '../market/regime-history.ts';
import type { RecordDetails } from '../statistics/statistics-service.ts';
import type { OracleDeps } from './deps.ts';
import type { MadeForecast } from './made-forecast.ts';
import { loadOrNoteMissing, type MissingPart } from './missing-parts.ts';
import { buildModelDetails } from './model-details.ts';
import { type OracleSignal, readHorizonRecord } from './oracle-signal.ts';
import { computeRecentAccuracy, type RecentAccuracy } from './recent-accuracy.ts';
import { describeThresholds } from './signal-thresholds.ts';

/** The Basic answer and everything that it rests on (interface, section 2.2). What cannot be had is null and listed in `missing`. */
export interface PremiumSignal extends OracleSignal {
  /** Public figures at signal time. */
  marketContext: { fearGreed: number | null; etfFlows7d: number | null };
  market_context: { btc_price: number; fear_greed: number | null; etf_flow_7d: number | null };
  accuracy: Omit<RecentAccuracy, 'accuracy'> & { last30d: number };
  categories: Record<CategoryName, CategoryScore> | null;
  thresholds: ReturnType<typeof describeThresholds>;
  regimeDetail: CurrentRegime | null;
  /** Of the price at resolution, by rising level. */
  quantiles: { level: number; price: number }[];
  strikes: NearStrike[];
  predictionMarket: MarketComparison;
  model: ReturnType<typeof buildModelDetails> | null;
  scorecard: { horizon: HorizonName; summary: PublishedSummary } & RecordDetails;
  missing: MissingPart[];
}

/** @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getPremiumSignal(deps: OracleDeps, horizonDays: number, caller: Caller): Promise<PremiumSignal> {
  const now = deps.now();
  const { docs, newest, summary, signal } = await readHorizonRecord(deps, horizonDays, caller);
  const day = (await deps.record.findDay(newest.day)) as DayDoc;
  const missing: MissingPart[] = [];
  const model = await loadOrNoteMissing(missing, 'model', () => deps.models.get(newest.modelVersion));
  const [regimeDetail, strikes, predictionMarket, details] = await Promise.all([
    loadOrNoteMissing(missing, 'regimeDetail', () => getCurrentRegime(deps, now)),
    listNearStrikes({ deps, day, model }, missing),
    compareWithMarket(deps),
    deps.statistics.getDetails(docs, horizonDays),
  ]);
  const { accuracy: last30d, ...accuracy } = computeRecentAccuracy(docs, { horizonDays, days: 30, now });
  return {
    ...signal,
    ...toPremiumContext(day, signal.btcPrice, missing),
    accuracy: { last30d: last30d ?? 0, ...accuracy },
    categories: day.categories,
    thresholds: describeThresholds(newest),
    regimeDetail,
    quantiles: toQuantiles(newest),
    strikes,
    predictionMarket,
    model: model && buildModelDetails(model, newest),
    scorecard: { horizon: signal.horizon, summary: toPublishedSummary(summary), ...details },
    missing,
  };
}

function toPremiumContext(
  { context }: DayDoc,
  btcPrice: number,
  missing: MissingPart[],
): Pick<PremiumSignal, 'marketContext' | 'market_context'> {
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
export function toQuantiles({ values: { priceQuantiles } }: MadeForecast): PremiumSignal['quantiles'] {
  return Object.entries(priceQuantiles)
    .map(([key, price]) => ({ level: Number(key.slice(1)) / 100, price: roundTo(price, 2) }))
    .sort((a, b) => a.level - b.level);
}
