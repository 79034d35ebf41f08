import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import type { BusinessDaySeries, InputFrame } from '../../../src/forecast/inputs.ts';
import { describeWithShared, hasShared, sharedPath } from '../../support/record/shared.ts';

/** A suite whose body reads reference files. The runner collects skipped suites too, so without the files another body has to stand in. */
export function describeGolden(name: string, body: () => void): void {
  describeWithShared(name, hasShared ? body : () => it('reads the reference data', () => undefined));
}

/** Parsed JSON of a reference file. */
export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(sharedPath('golden', name), 'utf8')) as T;
}

/** Rows of a reference CSV file, as objects by column name. */
export function readGoldenRows(name: string): Record<string, string>[] {
  return readCsvRows(sharedPath('golden', name));
}

/** Rows of a CSV file without quotes, as objects by column name. */
export function readCsvRows(path: string): Record<string, string>[] {
  const [header, ...lines] = readFileSync(path, 'utf8').trimEnd().split(/\r?\n/);
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

/** The reference inputs, 2010-07-18 to 2026-08-20, as a frame. */
export function readGoldenFrame(): InputFrame {
  const rows = readGoldenRows('inputs_daily.csv');
  const column = (name: string) => Float64Array.from(rows, (row) => (row[name] === '' ? Number.NaN : Number(row[name])));
  const observations = readGoldenRows('inputs_bday.csv');
  const series = (name: string): BusinessDaySeries => {
    const own = observations.filter((row) => row.series === name);
    return { days: Int32Array.from(own, (row) => parseDay(row.date)), values: Float64Array.from(own, (row) => Number(row.value)) };
  };
  const ranges = new Map(readCsvRows(sharedPath('data', 'btc_daily.csv')).map((row) => [row.date, row]));
  const readRange = (name: 'high' | 'low') => Float64Array.from(rows, ({ date }) => Number.parseFloat(ranges.get(date)?.[name] ?? 'NaN'));
  return {
    firstDay: parseDay(rows[0].date),
    close: column('close'),
    fearGreed: column('fng'),
    realizedPrice: column('realized_price'),
    takerBuyFraction: column('taker'),
    fundingRate: column('funding'),
    gold: column('gold'),
    pmi: column('pmi'),
    high: readRange('high'),
    low: readRange('low'),
    etfFlow: series('etf'),
    sp500: series('spx'),
    dxy: series('dxy'),
  };
}
