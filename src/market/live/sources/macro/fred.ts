import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { formatDay, parseDay } from '../../../../forecast/day.ts';
import { createHttpSource, invalidAnswer, numeric, parseAnswer } from '../http-source.ts';
import type { DatedValue, SeriesSource } from '../source.ts';

const MISSING = ['', '.'];

function createFredSource(id: string, history: SeriesSource['history']): SeriesSource {
  return createHttpSource({
    provider: 'fred',
    history,
    pageDays: 10_000,
    request: ({ from, to }) => ({
      path: '/graph/fredgraph.csv',
      query: { id, cosd: formatDay(from), coed: formatDay(to) },
      format: 'text',
    }),
    read: (body, _range, title) => parseGraph(body, id, title),
  });
}

const MACRO_HISTORY = { from: '2009-06-01' };
/** The licence limits the index to ten years. */
export const fredSp500 = createFredSource('SP500', { days: 3_650 });
export const fredVix = createFredSource('VIXCLS', MACRO_HISTORY);
export const fredUs10y = createFredSource('DGS10', MACRO_HISTORY);
export const fredUs2y = createFredSource('DGS2', MACRO_HISTORY);
export const fredFedFunds = createFredSource('DFF', MACRO_HISTORY);
export const fredPolicyRate = createFredSource('DFEDTARU', MACRO_HISTORY);

function parseGraph(body: unknown, id: string, title: string): DatedValue[] {
  // A file truncated within a line would end in a wrong number.
  const text = parseAnswer(z.string().endsWith('\n', 'is not complete'), body, title);
  const [header, ...rows] = parseCsvRows(text, title);
  parseAnswer(z.object({ header: z.literal(`observation_date,${id}`) }), { header: header?.join() }, title);
  const entries = rows.filter(([, value]) => !MISSING.includes(value)).map(([date, value]) => ({ observation_date: date, [id]: value }));
  const observations = parseAnswer(z.array(z.object({ observation_date: z.iso.date(), [id]: numeric })), entries, title);
  return observations.map((row) => ({ day: parseDay(row.observation_date as string), value: row[id] as number, providerAtMs: null }));
}

function parseCsvRows(text: string, title: string): string[][] {
  try {
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw invalidAnswer(title, 'answer', `is not CSV (${cause.message})`, cause);
  }
}
