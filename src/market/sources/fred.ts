import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { formatDay, parseDay } from '../../forecast/day.ts';
import {
  createHttpSource,
  type DatedValue,
  invalidAnswer,
  numeric,
  parseAnswer,
  parseRows,
  type RowReader,
  type SeriesSource,
} from './source.ts';

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
    read: (body, _range, reader) => parseGraph(body, id, reader),
  });
}

const MACRO_HISTORY = { from: '2009-06-01' };
export const fred = {
  /** The licence limits the index to ten years. */
  sp500: createFredSource('SP500', { days: 3_650 }),
  vix: createFredSource('VIXCLS', MACRO_HISTORY),
  us10y: createFredSource('DGS10', MACRO_HISTORY),
  us2y: createFredSource('DGS2', MACRO_HISTORY),
  fedFunds: createFredSource('DFF', MACRO_HISTORY),
  policyRate: createFredSource('DFEDTARU', MACRO_HISTORY),
};

function parseGraph(body: unknown, id: string, reader: RowReader): DatedValue[] {
  const { title } = reader;
  // A file truncated within a line would end in a wrong number.
  const text = parseAnswer(z.string().endsWith('\n', 'is not complete'), body, title);
  const [header, ...rows] = parseCsvRows(text, title);
  parseAnswer(z.object({ header: z.literal(`observation_date,${id}`) }), { header: header?.join() }, title);
  const entries = rows.filter(([, value]) => !MISSING.includes(value)).map(([date, value]) => ({ observation_date: date, [id]: value }));
  const observations = parseRows(z.object({ observation_date: z.iso.date(), [id]: numeric }), entries, reader);
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
