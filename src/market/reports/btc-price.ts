import { rounded } from './numbers.ts';
import type { MarketReport } from './report.ts';

export const btcPrice: MarketReport = {
  path: '/api/btc-price',
  summary: 'The price of a bitcoin in US dollars, and its change within 24 hours in percent',
  dependsOn: ['spot'],
  async build({ spot }) {
    const { priceUsd, change24hPct, source } = await spot();
    return { price: rounded(priceUsd, 2), change24h: rounded(change24hPct, 2), currency: 'USD', priceSource: source };
  },
};
