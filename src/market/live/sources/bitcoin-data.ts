import { z } from 'zod';
import { dayOf, formatDay, parseDay } from '../../../forecast/day.ts';
import type { SeriesSource } from '../source.ts';
import { finite, httpSource, numeric, parseAnswer } from './http-source.ts';

/** Prices that one path tells under the given name. */
function bitcoinDataSeries(path: string, name: string): SeriesSource {
  const answer = z.array(z.object({ d: z.iso.date(), [name]: numeric.or(finite).pipe(finite.positive()) }));
  return httpSource({
    provider: 'bitcoin-data',
    // Without a key, about four years.
    history: { days: 1_400 },
    pageDays: 10_000,
    daily: true,
    request: ({ from, to }) => ({ path, query: { startday: formatDay(from), endday: formatDay(to) } }),
    read(body, _range, title, nowMs) {
      const told = parseAnswer(answer, body, title).map((row) => ({ day: parseDay(row.d as string), value: row[name] as number }));
      // The running day's price still moves.
      return told.filter(({ day }) => day !== dayOf(nowMs)).map((value) => ({ ...value, providerAtMs: null }));
    },
  });
}

export const bitcoinDataRealizedPrice = bitcoinDataSeries('/v1/realized-price', 'realizedPrice');
/** Of coins that moved within the last 155 days. */
export const bitcoinDataSthRealizedPrice = bitcoinDataSeries('/v1/sth-realized-price', 'sthRealizedPrice');
