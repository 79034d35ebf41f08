import { z } from 'zod';
import { createCcxtVenue } from './ccxt-venue.ts';

export const bitstamp = createCcxtVenue({
  provider: 'bitstamp',
  history: { from: '2011-08-18' },
  pageDays: 1000,
  market: { exchange: 'bitstamp', symbol: 'BTC/USD', id: 'btcusd', urls: (baseUrl) => ({ public: `${baseUrl}/api` }) },
  candlesShape: z.object({ data: z.object({ ohlc: z.array(z.unknown()) }) }),
  // ccxt computes its percentage from the opening price of the UTC day.
  change24hPct: ({ info }) => info.percent_change_24,
});
