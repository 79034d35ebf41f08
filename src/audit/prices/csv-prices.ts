import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Day, parseDay } from '../../forecast/day.ts';
import type { DailyCloses } from '../../forecast/fit/base-rates.ts';
import { MIN_HISTORY_DAYS } from '../../forecast/input-frame.ts';
import { TRAINING_START } from '../../forecast/model.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import type { AuditPrices } from './audit-prices.ts';

/** Accepted names of the close column, the median first: records are resolved with medians. */
const CLOSE_COLUMNS = ['close_median', 'close'];

const PRICE_PATTERN = /^\d+(\.\d+)?$/;

/** Daily closes from a CSV file with the columns `date` (YYYY-MM-DD) and `close` (USD). @throws OracleError FEED_INVALID naming the line */
export async function csvPrices(path: string, toleranceBps: number): Promise<AuditPrices> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new OracleError('FEED_INVALID', `${path} cannot be read: ${getErrorMessage(cause)}`, { field: '--prices', cause });
  });
  const closes = parseCloses(text, path);
  return {
    ...{ source: path, toleranceBps, endsOn: null },
    closes: async (days) => new Map(days.flatMap((day) => (closes.has(day) ? [[day, closes.get(day)!]] : []))),
    history: async () => buildPriceHistory(closes),
  };
}

/** @throws OracleError FEED_INVALID naming the line */
export function parseCloses(text: string, path: string): Map<Day, number> {
  const suggestedAction = 'Give a CSV file with a header, a date (YYYY-MM-DD) and a daily close in USD at 00:00 UTC of the next day.';
  const reject = (line: number, problem: string) =>
    new OracleError('FEED_INVALID', `${path}, line ${line}: ${problem}`, { field: '--prices', suggestedAction });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const [header, ...rows] = lines.map((line) => line.split(',').map((cell) => cell.trim()));
  const columns = header.map((name) => name.toLowerCase());
  const names = ['date', CLOSE_COLUMNS.find((name) => columns.includes(name)) ?? 'close'];
  const twice = names.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (!names.every((name) => columns.includes(name))) throw reject(1, 'needs the columns date and close');
  if (twice !== undefined) throw reject(1, `names the column ${twice} twice`);
  const closes = new Map<Day, number>();
  for (const [index, cells] of rows.entries()) {
    if (cells.join() === '') continue;
    const [date, close = ''] = names.map((name) => cells[columns.indexOf(name)]);
    const day = z.iso.date().safeParse(date).success ? parseDay(date) : null;
    const price = PRICE_PATTERN.test(close) ? Number(close) : 0;
    const line = index + 2;
    if (cells.length > columns.length) throw reject(line, `has ${cells.length} cells, and the header ${columns.length} names`);
    if (day === null) throw reject(line, 'the date is not of the form YYYY-MM-DD');
    if (!(price > 0 && Number.isFinite(price))) throw reject(line, 'the close is no price such as 42000.5');
    if (closes.has(day)) throw reject(line, `${date} is there twice`);
    closes.set(day, price);
  }
  return closes;
}

/** Null unless the closes reach back to the first training day. */
function buildPriceHistory(closes: ReadonlyMap<Day, number>): DailyCloses | null {
  const days = [...closes.keys()].sort((a, b) => a - b);
  if (days.length === 0 || days[0] + MIN_HISTORY_DAYS - 1 > TRAINING_START) return null;
  const history = new Float64Array(days.at(-1)! - days[0] + 1).fill(Number.NaN);
  for (const day of days) history[day - days[0]] = closes.get(day)!;
  return { firstDay: days[0], closes: history };
}
