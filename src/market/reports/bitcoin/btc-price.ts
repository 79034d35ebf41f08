import { z } from 'zod';
import { roundOrNull, roundTo } from '../../numbers.ts';
import { defineReport } from '../report.ts';

export const btcPriceReport = defineReport({
  path: '/api/btc-price',
  summary: 'The price of a bitcoin in US dollars, and its change within 24 hours in percent',
  dependsOn: ['spot'],
  fields: z.object({
    price: z.number().describe('BTC/USD'),
    change24h: z.number().nullable().describe('Change against 24 hours before, in percent; null where the source cannot tell'),
    currency: z.literal('USD').describe('Currency of the price'),
    priceSource: z.string().describe('Where this very price comes from, e.g. the venues whose median it is'),
  }),
  async build({ spot }) {
    const { priceUsd, change24hPct, source } = await spot();
    return { price: roundTo(priceUsd, 2), change24h: roundOrNull(change24hPct, 2), currency: 'USD' as const, priceSource: source };
  },
});
