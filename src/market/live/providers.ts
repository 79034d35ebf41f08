/** A provider of market data: where it answers, and how often it may be asked. */
interface ProviderEntry {
  title: string;
  baseUrl: string;
  /** Least time between two requests, by the provider's own published limit. */
  minIntervalMs: number;
}

/** Every provider that live data comes from. */
export const PROVIDERS = {
  coinbase: { title: 'Coinbase Exchange', baseUrl: 'https://api.exchange.coinbase.com', minIntervalMs: 100 },
  kraken: { title: 'Kraken', baseUrl: 'https://api.kraken.com', minIntervalMs: 1_000 },
  bitstamp: { title: 'Bitstamp', baseUrl: 'https://www.bitstamp.net', minIntervalMs: 100 },
  binance: { title: 'Binance data mirror', baseUrl: 'https://data-api.binance.vision', minIntervalMs: 100 },
  okx: { title: 'OKX', baseUrl: 'https://www.okx.com', minIntervalMs: 400 },
  deribit: { title: 'Deribit', baseUrl: 'https://www.deribit.com', minIntervalMs: 250 },
  bybit: { title: 'Bybit', baseUrl: 'https://api.bybit.com', minIntervalMs: 50 },
  'binance-futures': { title: 'Binance Futures', baseUrl: 'https://fapi.binance.com', minIntervalMs: 700 },
  'alternative-me': { title: 'alternative.me', baseUrl: 'https://api.alternative.me', minIntervalMs: 1_000 },
  sosovalue: { title: 'SoSoValue', baseUrl: 'https://api.sosovalue.xyz', minIntervalMs: 3_000 },
  bitbo: { title: 'Bitbo', baseUrl: 'https://bitbo.io', minIntervalMs: 3_000 },
  farside: { title: 'Farside Investors', baseUrl: 'https://farside.co.uk', minIntervalMs: 3_000 },
  yahoo: { title: 'Yahoo Finance', baseUrl: 'https://query1.finance.yahoo.com', minIntervalMs: 500 },
  fred: { title: 'FRED, Federal Reserve Bank of St. Louis', baseUrl: 'https://fred.stlouisfed.org', minIntervalMs: 500 },
  dbnomics: { title: 'DBnomics', baseUrl: 'https://api.db.nomics.world', minIntervalMs: 1_000 },
  bitview: { title: 'Bitview', baseUrl: 'https://bitview.space', minIntervalMs: 500 },
  // Eight requests an hour and fifteen a day from one address.
  'bitcoin-data': { title: 'bitcoin-data.com', baseUrl: 'https://bitcoin-data.com', minIntervalMs: 10_000 },
  'polymarket-gamma': { title: 'Polymarket', baseUrl: 'https://gamma-api.polymarket.com', minIntervalMs: 200 },
  'polymarket-clob': { title: 'Polymarket order book', baseUrl: 'https://clob.polymarket.com', minIntervalMs: 100 },
  kalshi: { title: 'Kalshi', baseUrl: 'https://api.elections.kalshi.com', minIntervalMs: 200 },
} as const satisfies Record<string, ProviderEntry>;

export type ProviderId = keyof typeof PROVIDERS;

/** The venues whose tickers make the price, and whose closes settle outcomes. */
export const VENUE_IDS = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const satisfies readonly ProviderId[];

export const PROVIDER_IDS = Object.keys(PROVIDERS) as ProviderId[];
