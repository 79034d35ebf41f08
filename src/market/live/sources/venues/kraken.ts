import { z } from 'zod';
import { createCcxtVenue } from './ccxt-venue.ts';

const PAIR = 'XXBTZUSD';

export const kraken = createCcxtVenue({
  provider: 'kraken',
  // Kraken always returns the last 720 candles, the running one included.
  history: { days: 719 },
  pageDays: 720,
  market: { exchange: 'kraken', symbol: 'BTC/USD', id: PAIR, urls: (baseUrl) => ({ public: baseUrl }) },
  candlesShape: z.object({ result: z.object({ [PAIR]: z.array(z.array(z.unknown())) }) }),
  // The ticker's opening price is that of the UTC day.
  change24hPct: () => null,
});
