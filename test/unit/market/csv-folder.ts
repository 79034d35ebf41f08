import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Day, formatDay } from '../../../src/forecast/day.ts';

/** A folder named `prices` with the given files, removed after the test. */
export function createCsvFolder(files: Record<string, string>): string {
  const parent = mkdtempSync(join(tmpdir(), 'feed-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'prices');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** CSV text of one value a day. */
export function buildDailyCsv(column: string, first: Day, last: Day, value: (day: Day) => number | string = (day) => day): string {
  const rows = Array.from({ length: last - first + 1 }, (_, index) => `${formatDay(first + index)},${value(first + index)}`);
  return `date,${column}\n${rows.join('\n')}\n`;
}
