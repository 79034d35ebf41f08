import { z } from 'zod';
import { parseDay } from '../../../../forecast/day.ts';
import { finite, numeric, parseAnswer, requireAccepted } from '../http-source.ts';
import type { EtfSource } from '../source.ts';
import { createEtfSource } from './etf-source.ts';

const USD_PER_MILLION = 1_000_000;

const flows = z.object({
  data: z.preprocess(
    (data) => (Array.isArray(data) ? { list: data } : data),
    z.object({ list: z.array(z.object({ date: z.iso.date(), totalNetInflow: finite.or(numeric).nullable() })) }),
  ),
});

/** Total flows of the last 300 days in dollars, without single funds. The API key is optional and raises the rate limit. */
export function createSosovalueSource(apiKey: string | undefined): EtfSource {
  return createEtfSource({
    provider: 'sosovalue',
    history: { days: 300 },
    request: {
      path: '/openapi/v2/etf/historicalInflowChart',
      method: 'POST',
      headers: apiKey === undefined ? {} : { 'x-soso-api-key': apiKey },
      body: { type: 'us-btc-spot' },
    },
    read(body, _range, title) {
      requireAccepted(parseAnswer(z.object({ code: z.number() }), body, title).code, 0, title);
      const { list } = parseAnswer(flows, body, title).data;
      return list.flatMap(({ date, totalNetInflow: usd }) =>
        usd === null ? [] : [{ day: parseDay(date), totalMusd: Math.round(usd) / USD_PER_MILLION, fundsMusd: null }],
      );
    },
  });
}
