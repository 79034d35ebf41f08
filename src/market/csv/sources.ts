import type { SeriesId } from '../series/series.ts';

/** Where dated values stand in a file. */
export interface CsvColumn {
  column: string;
  /** Column of the date; `date` when left out. */
  dateColumn?: string;
}

/** One column of one file that feeds a series. */
export interface CsvSource extends CsvColumn {
  series: SeriesId;
  file: string;
  /** Last date (YYYY-MM-DD) taken from this file; what follows comes from the series' next source. */
  through?: string;
  /** True when the feed cannot do without the file. */
  required?: boolean;
}

/** The file of fund flows: one column of totals, and one of each fund under its ticker. */
export const FUND_FLOW_FILE = { file: 'etf_flows_farside.csv', totalColumn: 'total_musd' } as const;

/** The files a folder may hold. Several sources of one series join in this order, each continuing after the one before. */
export const CSV_SOURCES: readonly CsvSource[] = [
  // Before 2014-03 several venues' closes are broken: the chain-analysis price is the better one.
  { series: 'btcClose', file: 'onchain_coinmetrics.csv', column: 'price_usd', through: '2014-02-28' },
  { series: 'btcClose', file: 'btc_daily.csv', column: 'close_median', required: true },
  { series: 'fearGreed', file: 'fear_greed_daily.csv', column: 'fng' },
  { series: 'realizedPrice', file: 'onchain_coinmetrics.csv', column: 'realized_price_usd' },
  { series: 'sthRealizedPrice', file: 'sth_realized_price_daily.csv', column: 'sth_realized_price_usd' },
  { series: 'takerBuyFraction', file: 'taker_flow_binance_daily.csv', column: 'buy_frac' },
  { series: 'fundingRate', file: 'funding_binance_daily.csv', column: 'funding_rate' },
  { series: 'openInterest', file: 'open_interest_daily.csv', column: 'open_interest_usd' },
  { series: 'perpBasis', file: 'perp_basis_daily.csv', column: 'basis' },
  { series: 'dvol', file: 'dvol_daily.csv', column: 'dvol' },
  { series: 'etfFlow', file: FUND_FLOW_FILE.file, column: FUND_FLOW_FILE.totalColumn },
  { series: 'sp500', file: 'sp500_daily.csv', column: 'close' },
  { series: 'dxy', file: 'dxy_daily.csv', column: 'close' },
  { series: 'gold', file: 'gold_daily.csv', column: 'close' },
  { series: 'vix', file: 'vix_daily.csv', column: 'close' },
  { series: 'us2y', file: 'us2y_daily.csv', column: 'close' },
  { series: 'us10y', file: 'us10y_daily.csv', column: 'close' },
  { series: 'fedFunds', file: 'fed_funds_daily.csv', column: 'dff' },
  { series: 'policyRate', file: 'fed_policy_rate_upper_monthly.csv', column: 'rate' },
  { series: 'pmi', file: 'ism_manufacturing_pmi_monthly.csv', column: 'pmi_first_print', dateColumn: 'release_date' },
];
