import { z } from 'zod';
import { createCcxtVenue } from './ccxt-venue.ts';

export const coinbase = createCcxtVenue({
  provider: 'coinbase',
  history: { from: '2015-07-20' },
  pageDays: 300,
  market: { exchange: 'coinbaseexchange', symbol: 'BTC/USD', id: 'BTC-USD', urls: (baseUrl) => ({ public: baseUrl }) },
  candlesShape: z.array(z.array(z.unknown())),
  // The ticker has neither a change nor an opening price.
  change24hPct: () => null,
});
