import { readFile } from 'node:fs/promises';
import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
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
  const [header = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const columns = header.split(',').map((name) => name.trim().toLowerCase());
  const { date, close } = findColumns(columns, `${path}, line 1`);
  const closes = new Map<Day, number>();
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    const where = `${path}, line ${index + 2}`;
    const cells = line.split(',');
    if (cells.length > columns.length) throw invalidPriceFile(where, `has ${cells.length} cells, and the header ${columns.length} names`);
    const day = tryParseDay(cells[date]);
    if (day === null) throw invalidPriceFile(where, 'the date is not of the form YYYY-MM-DD');
    const price = parsePrice(cells[close] ?? '', where);
    if (closes.has(day)) throw invalidPriceFile(where, `${formatDay(day)} is there twice`);
    closes.set(day, price);
  });
  return closes;
}

function tryParseDay(text = ''): Day | null {
  try {
    return parseDay(text.trim());
  } catch {
    return null;
  }
}

function findColumns(columns: readonly string[], where: string): { date: number; close: number } {
  const name = CLOSE_COLUMNS.find((one) => columns.includes(one));
  if (!columns.includes('date') || name === undefined) throw invalidPriceFile(where, 'needs the columns date and close');
  const twice = ['date', name].find((one) => columns.indexOf(one) !== columns.lastIndexOf(one));
  if (twice !== undefined) throw invalidPriceFile(where, `names the column ${twice} twice`);
  return { date: columns.indexOf('date'), close: columns.indexOf(name) };
}

function parsePrice(text: string, where: string): number {
  const price = PRICE_PATTERN.test(text.trim()) ? Number(text) : 0;
  if (price > 0 && Number.isFinite(price)) return price;
  throw invalidPriceFile(where, 'the close is no price such as 42000.5');
}

/** Null unless the closes reach back to the first training day. */
function buildPriceHistory(closes: ReadonlyMap<Day, number>): DailyCloses | null {
  const days = [...closes.keys()].sort((a, b) => a - b);
  if (days.length === 0 || days[0] + MIN_HISTORY_DAYS - 1 > TRAINING_START) return null;
  const history = new Float64Array(days.at(-1)! - days[0] + 1).fill(Number.NaN);
  for (const day of days) history[day - days[0]] = closes.get(day)!;
  return { firstDay: days[0], closes: history };
}

function invalidPriceFile(where: string, problem: string): OracleError {
  const suggestedAction = 'Give a CSV file with a header, a date (YYYY-MM-DD) and a daily close in USD at 00:00 UTC of the next day.';
  return new OracleError('FEED_INVALID', `${where}: ${problem}`, { field: '--prices', suggestedAction });
}
