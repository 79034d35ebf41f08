import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { formatDay, parseDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { createHttpSource, numeric, parseAnswer } from '../http-source.ts';
import type { DatedValue, SeriesSource } from '../source.ts';

/** What stands for a day without an observation. */
const MISSING = ['', '.'];

/** The observations of a series of the Federal Reserve Bank of St. Louis, by their own dates. */
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

/** The index may be shown for ten years only. */
export const fredSp500 = createFredSource('SP500', { days: 3_650 });
export const fredVix = createFredSource('VIXCLS', MACRO_HISTORY);
export const fredUs10y = createFredSource('DGS10', MACRO_HISTORY);
export const fredUs2y = createFredSource('DGS2', MACRO_HISTORY);
export const fredFedFunds = createFredSource('DFF', MACRO_HISTORY);
export const fredPolicyRate = createFredSource('DFEDTARU', MACRO_HISTORY);

function parseGraph(body: unknown, id: string, title: string): DatedValue[] {
  const [header, ...rows] = parseCsvRows(requireWholeLines(body, title), title);
  parseAnswer(z.object({ header: z.literal(`observation_date,${id}`) }), { header: header?.join() }, title);
  const entries = rows.filter(([, value]) => !MISSING.includes(value)).map(([date, value]) => ({ observation_date: date, [id]: value }));
  const observations = parseAnswer(z.array(z.object({ observation_date: z.iso.date(), [id]: numeric })), entries, title);
  return observations.map((row) => ({ day: parseDay(row.observation_date as string), value: row[id] as number, providerAtMs: null }));
}

/** A file cut off within a line would end in a wrong number. */
function requireWholeLines(body: unknown, title: string): string {
  return parseAnswer(z.string().endsWith('\n', 'is not complete'), body, title);
}

function parseCsvRows(text: string, title: string): string[][] {
  try {
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw new OracleError('FEED_INVALID', `${title}: answer is no CSV (${cause.message})`, { field: 'answer', cause });
  }
}
