import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../../../src/forecast/day.ts';
import { parseFlowTable } from '../../../../../../src/market/sources/etf-flows.ts';
import type { EtfDay } from '../../../../../../src/market/sources/source.ts';
import { describeWithShared } from '../../../../../support/record/shared.ts';
import { readSample, readSampleText } from '../recorded-answers.ts';
import { createRowReader } from '../test-providers.ts';

const WEEK = { from: parseDay('2025-02-03'), to: parseDay('2025-02-07') };

const row = (cells: string[]) => `<tr>${cells.map((cell) => `<td><span> ${cell}\n</span></td>`).join('')}</tr>`;
const table = (...rows: string[][]) => `<html><table><tr><td>Home</td></tr></table><table>${rows.map(row).join('\n')}</table></html>`;
const HEADER = ['Date', 'IBIT', 'GBTC', 'Total'];

const read = (...rows: string[][]) => parseFlowTable(table(...rows), WEEK, createRowReader('Acme'));
const oneRow = (...cells: string[]) => read(HEADER, ['04 Feb 2025', ...cells])[0];

describe('parseFlowTable', () => {
  it('parses a row per day and a column per fund', () => {
    expect(read(HEADER, ['03 Feb 2025', '10.5', '-2.5', '8.0'], ['04 Feb 2025', '1.0', '2.0', '3.0'])).toEqual([
      { day: parseDay('2025-02-03'), totalMusd: 8, fundsMusd: { IBIT: 10.5, GBTC: -2.5 } },
      { day: parseDay('2025-02-04'), totalMusd: 3, fundsMusd: { IBIT: 1, GBTC: 2 } },
    ]);
  });

  it.each([
    ['(1.2)', -1.2],
    ['-1.2', -1.2],
    ['1,234.5', 1234.5],
    ['(1,234.5)', -1234.5],
    ['7', 7],
    ['-', 0],
    ['\u2014', 0],
    ['', 0],
    ['-0.0', 0],
    ['(0.0)', 0],
  ])('parses "%s" as %d', (text, musd) => {
    expect(oneRow('0.0', text, text).totalMusd).toBe(musd);
  });

  it.each(['n/a', '1.2.3', '12a', '(1.2', '1.2)', '--1', '(-1.2)', ',', '1e3', '$5', 'NaN'])('rejects "%s"', (text) => {
    expect(() => oneRow('0.0', text, '0.0')).toThrow(
      expect.objectContaining({ code: 'FEED_INVALID', field: '2025-02-04.GBTC', message: 'Acme: 2025-02-04.GBTC is not an amount' }),
    );
  });

  it.each(['04 Feb 2025', '4 Feb 2025', 'Feb 04, 2025', 'Feb 4, 2025', '04&nbsp;Feb&nbsp;2025'])('parses the date %s', (date) => {
    expect(read(HEADER, [date, '1.0', '2.0', '3.0']).map(({ day }) => formatDay(day))).toEqual(['2025-02-04']);
  });

  it('skips sums, fees, blank rows and other tables', () => {
    const rows = [['', 'BlackRock', 'Grayscale', ''], HEADER, ['Fee', '0.25%', '1.5%', ''], [], ['04 Feb 2025', '1.0', '2.0', '3.0']];
    expect(read(...rows, ['Total', '9', '9', '99'], ['Average', 'x', 'y', 'z'])).toHaveLength(1);
  });

  it('skips an unclosed row', () => {
    const page = table(HEADER, ['04 Feb 2025', '1.0', '2.0', '3.0']).replace('</tr>\n', '</tr>\n<tr>\n');
    expect(parseFlowTable(page, WEEK, createRowReader('Acme'))).toHaveLength(1);
  });

  it('skips columns of no fund', () => {
    const parsed = read(['Date', 'BTC price', 'IBIT', 'Totals', 'Note'], ['04 Feb 2025', '$98,000', '3.0', '3.0', 'late']);
    expect(parsed).toMatchObject([{ totalMusd: 3, fundsMusd: { IBIT: 3 } }]);
  });

  it('uses an unnamed last column as the total', () => {
    expect(read(['', 'IBIT', 'GBTC', ''], ['04 Feb 2025', '1.0', '2.0', '3.0'])).toMatchObject([{ totalMusd: 3 }]);
  });

  it('ignores days outside the range', () => {
    expect(
      read(HEADER, ['31 Jan 2025', 'broken', '', ''], ['04 Feb 2025', '1.0', '2.0', '3.0'], ['10 Feb 2025', '1', '1', '9']),
    ).toHaveLength(1);
  });

  it('tolerates rounding in totals', () => {
    expect(oneRow('0.1', '0.1', '0.3').totalMusd).toBe(0.3);
  });

  it('rejects a total that is not the sum of the funds', () => {
    expect(() => oneRow('1.0', '2.0', '3.2')).toThrow('Acme: 2025-02-04.Total is 3.2, but the funds add up to 3.0');
  });

  it.each([
    ['a row that is too short', [HEADER, ['04 Feb 2025', '1.0', '2.0']], '2025-02-04.Total'],
    [
      'no column of the largest fund',
      [
        ['Date', 'AAAA', 'Total'],
        ['04 Feb 2025', '1.0', '1.0'],
      ],
      'table',
    ],
    [
      'no total',
      [
        ['Date', 'IBIT'],
        ['04 Feb 2025', '1.0'],
      ],
      'table',
    ],
    ['no dates', [HEADER], 'table'],
    ['other dates', [HEADER, ['2025/02/04', '1.0', '2.0', '3.0']], 'table'],
  ])('throws FEED_INVALID for %s', (_, rows, field) => {
    expect(() => read(...rows)).toThrow(expect.objectContaining({ code: 'FEED_INVALID', field }));
  });

  it.each(['<html><title>Just a moment...</title></html>', '', null, { rows: [] }])('throws FEED_INVALID for the page %j', (page) => {
    expect(() => parseFlowTable(page, WEEK, createRowReader('Acme'))).toThrow(expect.objectContaining({ code: 'FEED_INVALID' }));
  });
});

describeWithShared('tables as recorded', () => {
  it('parses a recorded Farside page', () => {
    const from = parseDay('2026-06-04');
    const days = parseFlowTable(readSampleText('etf_farside_table.html'), { from, to: from }, createRowReader('Farside'));
    expect(days).toHaveLength(1);
    expect(days[0].totalMusd).toBe(Object.values(days[0].fundsMusd!).reduce((sum, flow) => sum + flow, 0));
  });

  it('parses a recorded Bitbo page', () => {
    const recorded: { date: string; flows: Record<string, number>; total: number }[] = readSample('etf_bitbo_parsed.json').daily_flows;
    const tickers = Object.keys(recorded[0].flows);
    const months = Intl.DateTimeFormat('en-US', { month: 'short', day: '2-digit', year: 'numeric', timeZone: 'UTC' });
    const rows = recorded.map(({ date, flows, total }) => [
      months.format(Date.parse(date)),
      ...tickers.map((ticker) => flows[ticker].toFixed(1)),
      total.toFixed(1),
    ]);
    const range = { from: parseDay(recorded[0].date), to: parseDay(recorded.at(-1)!.date) };
    const expected: EtfDay[] = recorded.map(({ date, flows, total }) => ({ day: parseDay(date), totalMusd: total, fundsMusd: flows }));
    expect(parseFlowTable(table(['Date', ...tickers, 'Totals'], ...rows), range, createRowReader('Bitbo'))).toEqual(expected);
  });
});
