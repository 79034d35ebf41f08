import { btcPriceReport } from './bitcoin/btc-price.ts';
import { fearGreedReport } from './bitcoin/fear-greed.ts';
import { sthPnlRatioReport } from './bitcoin/sth-pnl-ratio.ts';
import { derivativesSummaryReport } from './derivatives/derivatives-summary.ts';
import { liquidationHeatmapReport } from './derivatives/liquidation-heatmap.ts';
import { etfAnalyticsReport } from './etf/etf-analytics.ts';
import { etfFlowsReport } from './etf/etf-flows.ts';
import { economicIndicatorsReport } from './macro/economic-indicators.ts';
import { interestRatesReport } from './macro/interest-rates.ts';
import { macroCorrelationReport } from './macro/macro-correlation.ts';
import type { MarketReport } from './report.ts';

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
