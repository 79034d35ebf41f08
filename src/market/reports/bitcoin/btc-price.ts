import { z } from 'zod';
import { roundTo } from '../../../platform/round.ts';
import { roundOrNull } from '../../numbers.ts';
import { defineReport } from '../report.ts';

export const btcPriceReport = defineReport({
  path: '/api/btc-price',
  summary: 'BTC/USD price and its 24-hour change in percent',
  dependsOn: ['spot'],
  fields: z.object({
    price: z.number().describe('BTC/USD'),
    change24h: z.number().nullable().describe('24-hour change in percent; null when the source does not report it'),
    currency: z.literal('USD').describe('Currency of the price'),
    priceSource: z.string().describe('Source of this price, e.g. the venues of the median'),
  }),
  async build({ spot }) {
    const { priceUsd, change24hPct, source } = await spot();
    return { price: roundTo(priceUsd, 2), change24h: roundOrNull(change24hPct, 2), currency: 'USD' as const, priceSource: source };
  },
});
