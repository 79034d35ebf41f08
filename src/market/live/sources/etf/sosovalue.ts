import { z } from 'zod';
import { parseDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { finite, numeric, parseAnswer } from '../http-source.ts';
import type { EtfDay, EtfSource } from '../source.ts';
import { createEtfSource } from './etf-source.ts';

const ACCEPTED = 0;
const USD_PER_MILLION = 1_000_000;

const envelope = z.object({ code: z.number() });

const flows = z.object({
  data: z.preprocess(
    (data) => (Array.isArray(data) ? { list: data } : data),
    z.object({ list: z.array(z.object({ date: z.iso.date(), totalNetInflow: finite.or(numeric).nullable() })) }),
  ),
});

/** Total flows of the last 300 days, in dollars; single funds are not told. It answers without a key too, if less often. */
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
    read: (body, _range, title) => parseFlows(body, title),
  });
}

function parseFlows(body: unknown, providerTitle: string): EtfDay[] {
  const { code } = parseAnswer(envelope, body, providerTitle);
  if (code !== ACCEPTED) throw new OracleError('FEED_UNAVAILABLE', `${providerTitle}: refused with code ${code}`);
  const { list } = parseAnswer(flows, body, providerTitle).data;
  return list.flatMap(({ date, totalNetInflow: usd }) =>
    usd === null ? [] : [{ day: parseDay(date), totalMusd: Math.round(usd) / USD_PER_MILLION, fundsMusd: null }],
  );
}
