import { z } from 'zod';
import { parseDay } from '../../forecast/day.ts';
import { createEtfSource } from './etf-flows.ts';
import { type EtfSource, finite, numeric, parseAnswer, parseRows, requireAccepted } from './source.ts';

const USD_PER_MILLION = 1_000_000;

const flows = z.object({
  data: z.preprocess((data) => (Array.isArray(data) ? { list: data } : data), z.object({ list: z.array(z.unknown()) })),
});

const row = z.object({ date: z.iso.date(), totalNetInflow: finite.or(numeric).nullable() });

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
    read(body, _range, reader) {
      requireAccepted(parseAnswer(z.object({ code: z.number() }), body, reader.title).code, 0, reader.title);
      const { list } = parseAnswer(flows, body, reader.title).data;
      return parseRows(row, list, reader, ['data', 'list']).flatMap(({ date, totalNetInflow: usd }) =>
        usd === null ? [] : [{ day: parseDay(date), totalMusd: Math.round(usd) / USD_PER_MILLION, fundsMusd: null }],
      );
    },
  });
}
