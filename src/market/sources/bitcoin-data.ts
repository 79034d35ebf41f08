import { z } from 'zod';
import { formatDay, parseDay, toDay } from '../../forecast/day.ts';
import { createHttpSource, finite, numeric, parseAnswer, parseRows, positive, type SeriesSource } from './source.ts';

function createBitcoinDataSource(path: string, name: string): SeriesSource {
  const row = z.object({ d: z.iso.date(), [name]: numeric.or(finite).pipe(positive) });
  return createHttpSource({
    provider: 'bitcoin-data',
    // About four years without a key.
    history: { days: 1_400 },
    pageDays: 10_000,
    daily: true,
    request: ({ from, to }) => ({ path, query: { startday: formatDay(from), endday: formatDay(to) } }),
    read(body, _range, reader, nowMs) {
      const parsed = parseRows(row, parseAnswer(z.array(z.unknown()), body, reader.title), reader);
      const rows = parsed.map((entry) => ({ day: parseDay(entry.d as string), value: entry[name] as number }));
      // The value of the running day is not final.
      return rows.filter(({ day }) => day !== toDay(nowMs)).map((value) => ({ ...value, providerAtMs: null }));
    },
  });
}

export const bitcoinDataRealizedPrice = createBitcoinDataSource('/v1/realized-price', 'realizedPrice');
/** Of coins that moved within the last 155 days. */
export const bitcoinDataSthRealizedPrice = createBitcoinDataSource('/v1/sth-realized-price', 'sthRealizedPrice');
