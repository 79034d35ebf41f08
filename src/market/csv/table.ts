import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';

/** The text of a CSV file: a header and rows of as many cells. */
export interface CsvTable {
  /** Path for messages. */
  path: string;
  header: string[];
  rows: string[][];
  /** Line of each row in the file; the header is line 1. */
  lines: number[];
}

interface ParsedRow {
  record: string[];
  info: { lines: number };
}

/**
 * Reads a CSV file; null when it does not exist.
 * @throws OracleError FEED_INVALID naming the file, and the line where it is not CSV.
 */
export async function readCsvTable(folder: string, file: string): Promise<CsvTable | null> {
  const path = join(folder, file);
  const text = await readOptionalFile(path);
  if (text === null) return null;
  const [header, ...rows] = parseRows(path, text);
  if (header === undefined) throw invalidCsv(path, 1, 'the file is empty', 'Write a header line and at least one row.');
  return { path, header: header.record, rows: rows.map((row) => row.record), lines: rows.map((row) => row.info.lines) };
}

/** The error of a CSV file, at a line. */
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

function parseRows(path: string, text: string): ParsedRow[] {
  try {
    return parse(text, { bom: true, info: true, skip_empty_lines: true, trim: true }) as unknown as ParsedRow[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? error.lines : null;
    throw invalidCsv(
      path,
      line,
      `not readable as CSV (${error.message})`,
      'Correct the quotes or the number of cells on that line.',
      error,
    );
  }
}
