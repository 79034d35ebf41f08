import type { Caller } from '../../auth/caller.ts';
import { toPublishedSummary } from '../../forecast/statistics/published-summary.ts';
import { roundTo } from '../../platform/round.ts';
import { compareWithMarket } from '../crowd/market-comparison.ts';
import type { DayDoc } from '../day-doc.ts';
import { listNearStrikes } from '../market/near-strikes.ts';
import { getCurrentRegime } from '../market/regime-history.ts';
import type { OracleDeps } from './deps.ts';
import type { MadeForecast } from './made-forecast.ts';
import { loadOrNoteMissing, type MissingPart } from './missing-parts.ts';
import { buildModelDetails } from './model-details.ts';
import { readHorizonRecord } from './oracle-signal.ts';
import { readRecentAccuracy } from './recent-accuracy.ts';
import { describeThresholds } from './signal-thresholds.ts';

/** The Basic answer with all its evidence (interface, section 2.2); unavailable parts are null and listed in `missing`. Errors as Basic. */
export async function getPremiumSignal(deps: OracleDeps, horizonDays: number, caller: Caller) {
  const now = deps.now();
  const { newest, figures, signal } = await readHorizonRecord(deps, horizonDays, caller);
  const day = (await deps.record.findDay(newest.day)) as DayDoc;
  const missing: MissingPart[] = [];
  const model = await loadOrNoteMissing(missing, 'model', () => deps.models.get(newest.modelVersion));
  const [regimeDetail, strikes, predictionMarket, details, recent] = await Promise.all([
    loadOrNoteMissing(missing, 'regimeDetail', () => getCurrentRegime(deps, now)),
    listNearStrikes({ deps, day, model }, missing),
    compareWithMarket(deps),
    deps.statistics.getDetails(horizonDays),
    readRecentAccuracy(deps.record, { horizonDays, days: 30, now }),
  ]);
  const { accuracy: last30d, ...accuracy } = recent;
  const { longestWinStreak, ...summary } = figures.summary;
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

function toPremiumContext({ context }: DayDoc, btcPrice: number, missing: MissingPart[]) {
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

export function toQuantiles({ values: { priceQuantiles } }: MadeForecast): { level: number; price: number }[] {
  return Object.entries(priceQuantiles)
    .map(([key, price]) => ({ level: Number(key.slice(1)) / 100, price: roundTo(price, 2) }))
    .sort((a, b) => a.level - b.level);
}
