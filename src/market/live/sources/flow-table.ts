import { type HTMLElement, parse } from 'node-html-parser';
import { z } from 'zod';
import { OracleError } from '../../../errors.ts';
import { DAY_MS, type Day, formatDay, parseDay } from '../../../forecast/day.ts';
import type { DayRange, EtfDay } from '../source.ts';
import { parseAnswer } from './http-source.ts';

/** The largest fund: no table of flows is without it. */
const LEADER = 'IBIT';
const TICKER = /^[A-Z]{3,5}$/;
const TOTAL = /^totals?$/i;
/** `05 Jun 2026` or `Jun 05, 2026`. */
const DATE = /^(?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{1,2},) \d{4}$/;
/** `1,234.5`, and for what flowed out `-1,234.5` or `(1,234.5)`. */
const AMOUNT = /^(?:\((?<out>\d[\d,]*(?:\.\d+)?)\)|(?<plain>-?\d[\d,]*(?:\.\d+)?))$/;
/** What pages show of a fund without a flow, or without a report. */
const NOTHING = ['', '-', '\u2013', '\u2014'];
/** Flows are told to 0.1 of a million. */
const TOLERANCE_MUSD = 0.15;

const amount = z.string('is missing').transform((text, context) => {
  if (NOTHING.includes(text)) return 0;
  const { out, plain } = AMOUNT.exec(text)?.groups ?? {};
  if (out === undefined && plain === undefined) {
    context.addIssue({ code: 'custom', message: 'is no amount' });
    return z.NEVER;
  }
  const flow = out === undefined ? numberOf(plain) : -numberOf(out);
  return flow === 0 ? 0 : flow;
});

/** By date and column. */
const amounts = z.record(z.string(), z.record(z.string(), amount));

/**
 * Daily flows of the table in a web page: a row a day, a column a fund, and their total; USD millions. Rows of no day and columns of no
 * fund are passed over, and so are days outside the range.
 * @throws OracleError FEED_INVALID naming the cell, or the day whose total is not the sum of its funds
 */
export function readFlowTable(page: unknown, { from, to }: DayRange, providerTitle: string): EtfDay[] {
  const rows = parse(parseAnswer(z.string(), page, providerTitle))
    .querySelectorAll('tr')
    .map(cellsOf);
  const headerAt = rows.findIndex((cells) => cells.includes(LEADER));
  if (headerAt < 0) throw invalid(providerTitle, 'table', `has no column ${LEADER}`);
  const columns = columnsOf(rows[headerAt], providerTitle);
  const dated = rows.slice(headerAt + 1).flatMap((cells) => datedRow(cells));
  if (dated.length === 0) throw invalid(providerTitle, 'table', 'has no row with a date');
  const wanted = dated.filter(({ day }) => day >= from && day <= to);
  const told = Object.fromEntries(wanted.map(({ day, cells }) => [formatDay(day), namedCells(columns, cells)]));
  return Object.entries(parseAnswer(amounts, told, providerTitle)).map(([date, row]) => etfDay(date, row, providerTitle));
}

function cellsOf(row: HTMLElement): string[] {
  const cells = row.children.filter(({ tagName }) => tagName === 'TD' || tagName === 'TH');
  return cells.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim());
}

interface Column {
  name: string;
  index: number;
}

/** The funds and the total, which stands in the last column where none is named so. */
function columnsOf(header: string[], providerTitle: string): Column[] {
  const named = header.findIndex((name) => TOTAL.test(name));
  const total = named < 0 && header.at(-1) === '' ? header.length - 1 : named;
  if (total < 0) throw invalid(providerTitle, 'table', 'has no column Total');
  const funds = header.map((name, index) => ({ name, index })).filter(({ name, index }) => index !== total && TICKER.test(name));
  return [...funds, { name: 'Total', index: total }];
}

function datedRow(cells: string[]): { day: Day; cells: string[] }[] {
  const [date = ''] = cells;
  const midnightMs = DATE.test(date) ? Date.parse(`${date} UTC`) : Number.NaN;
  return Number.isNaN(midnightMs) ? [] : [{ day: midnightMs / DAY_MS, cells }];
}

function namedCells(columns: readonly Column[], cells: string[]): Record<string, string | undefined> {
  return Object.fromEntries(columns.map(({ name, index }) => [name, cells[index]]));
}

function etfDay(date: string, { Total: totalMusd, ...fundsMusd }: Record<string, number>, providerTitle: string): EtfDay {
  const sumMusd = Object.values(fundsMusd).reduce((sum, flow) => sum + flow, 0);
  if (Math.abs(totalMusd - sumMusd) > TOLERANCE_MUSD) {
    throw invalid(providerTitle, `${date}.Total`, `is ${totalMusd}, but the funds add up to ${sumMusd.toFixed(1)}`);
  }
  return { day: parseDay(date), totalMusd, fundsMusd };
}

function numberOf(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}

function invalid(providerTitle: string, field: string, problem: string): OracleError {
  return new OracleError('FEED_INVALID', `${providerTitle}: ${field} ${problem}`, { field });
}
