import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';

/** A parsed CSV file; each row has as many cells as the header. */
export interface CsvTable {
  path: string;
  header: string[];
  rows: string[][];
  /** Line number of each row; the header is line 1. */
  lines: number[];
}

/** Reads a CSV file; null when it does not exist. @throws OracleError FEED_INVALID naming file and line */
export async function readCsvTable(folder: string, file: string): Promise<CsvTable | null> {
  const path = join(folder, file);
  const text = await readOptionalFile(path);
  if (text === null) return null;
  const [header, ...rows] = parseRows(path, text);
  if (header === undefined) throw invalidCsv(path, 1, 'the file is empty', 'Write a header line and at least one row.');
  return { path, header: header.record, rows: rows.map((row) => row.record), lines: rows.map((row) => row.info.lines) };
}

export function invalidCsv(path: string, line: number | null, problem: string, suggestedAction: string, cause?: unknown): OracleError {
  const place = line === null ? path : `${path}, line ${line}`;
  return new OracleError('FEED_INVALID', `${place}: ${problem}`, { suggestedAction, cause });
}

async function readOptionalFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw invalidCsv(path, null, `cannot be read (${getErrorMessage(error)})`, 'Make the file readable for this process.', error);
  }
}

function parseRows(path: string, text: string): { record: string[]; info: { lines: number } }[] {
  try {
    return parse(text, { bom: true, info: true, skip_empty_lines: true, trim: true }) as unknown as ReturnType<typeof parseRows>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? error.lines : null;
    const problem = `not readable as CSV (${error.message})`;
    throw invalidCsv(path, line, problem, 'Correct the quotes or the number of cells on that line.', error);
  }
}
