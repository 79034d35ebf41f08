import type { SeriesId } from '../series/series.ts';

export interface CsvSource {
  series: SeriesId;
  file: string;
  column: string;
  /** Default `date`. */
  dateColumn?: string;
  /** Last date (YYYY-MM-DD) read from this file; the series continues with its next source. */
  through?: string;
  required?: boolean;
  /** The file may lack the column. */
  optionalColumn?: boolean;
}

/** One column of totals and one column for each fund, named by its ticker. */
export const FUND_FLOW_FILE = { file: 'etf_flows_farside.csv', totalColumn: 'total_musd' } as const;

/** The files of a folder. Sources of one series are concatenated in this order. */
export const CSV_SOURCES: readonly CsvSource[] = [
  // Closes of several venues before 2014-03 are broken; the on-chain provider's price is more reliable.
  { series: 'btcClose', file: 'onchain_coinmetrics.csv', column: 'price_usd', through: '2014-02-28' },
  { series: 'btcClose', file: 'btc_daily.csv', column: 'close_median', required: true },
  { series: 'btcHigh', file: 'btc_daily.csv', column: 'high', optionalColumn: true },
  { series: 'btcLow', file: 'btc_daily.csv', column: 'low', optionalColumn: true },
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
