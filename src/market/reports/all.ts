import { btcPrice } from './btc-price.ts';
import { derivativesSummary } from './derivatives-summary.ts';
import { economicIndicators } from './economic-indicators.ts';
import { etfAnalytics } from './etf-analytics.ts';
import { etfFlows } from './etf-flows.ts';
import { fearGreed } from './fear-greed.ts';
import { interestRates } from './interest-rates.ts';
import { liquidationHeatmap } from './liquidation-heatmap.ts';
import { macroCorrelation } from './macro-correlation.ts';
import type { MarketReport } from './report.ts';
import { sthPnlRatio } from './sth-pnl-ratio.ts';

/** Every report: a further one is one entry here. */
export const MARKET_REPORTS: readonly MarketReport[] = [
  btcPrice,
  fearGreed,
  etfFlows,
  macroCorrelation,
  etfAnalytics,
  derivativesSummary,
  economicIndicators,
  interestRates,
  liquidationHeatmap,
  sthPnlRatio,
];
