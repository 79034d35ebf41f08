import { type DefaultTreeAdapterTypes as Html, parse } from 'parse5';
import { z } from 'zod';
import { DAY_MS, type Day, formatDay } from '../../forecast/day.ts';
import type { ProviderRequest } from '../live/provider.ts';
import { isUsExchangeDay } from '../series.ts';
import {
  type DayRange,
  type EtfDay,
  type EtfSource,
  fetchParsed,
  invalidAnswer,
  leaveOutFuture,
  parseAnswer,
  type RowReader,
  requireUsable,
} from './source.ts';

interface EtfSourceOptions extends Omit<EtfSource, 'fetch'> {
  request: ProviderRequest;
  /** Days in any order, possibly outside the range or without a flow. */
  read(body: unknown, range: DayRange, reader: RowReader): EtfDay[];
}

export function createEtfSource({ request, read, ...source }: EtfSourceOptions): EtfSource {
  return {
    ...source,
    fetch: (provider, range) =>
      fetchParsed(provider, request, ({ body, receivedAtMs }) => {
        return selectReportedDays(read(body, range, provider), range, provider, receivedAtMs);
      }),
  };
}

/** Each day's last entry; one without a flow is a holiday or not reported yet. @throws OracleError FEED_INVALID for days after tomorrow only */
export function selectReportedDays(days: readonly EtfDay[], { from, to }: DayRange, reader: RowReader, nowMs: number): EtfDay[] {
  const byDay = new Map<Day, EtfDay>();
  for (const entry of leaveOutFuture(days, reader, nowMs)) {
    if (entry.day >= from && entry.day <= to && isUsExchangeDay(entry.day) && hasFlow(entry)) byDay.set(entry.day, entry);
  }
  return [...byDay.values()];
}

function hasFlow({ totalMusd, fundsMusd }: EtfDay): boolean {
  return totalMusd !== 0 || Object.values(fundsMusd ?? {}).some((flow) => flow !== 0);
}

/** The largest fund is in every table of flows. */
const REFERENCE_FUND = 'IBIT';
const TICKER = /^[A-Z]{3,5}$/;
const TOTAL = /^totals?$/i;
/** `05 Jun 2026` or `Jun 05, 2026`. */
const DATE = /^(?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} \d{1,2},) \d{4}$/;
/** `1,234.5`; an outflow is `-1,234.5` or `(1,234.5)`. */
const AMOUNT = /^(?:\((?<out>\d[\d,]*(?:\.\d+)?)\)|(?<plain>-?\d[\d,]*(?:\.\d+)?))$/;
/** Cells of a fund without a flow or a report. */
const EMPTY_CELLS = ['', '-', '\u2013', '\u2014'];
/** Flows are rounded to 0.1 of a million. */
const TOLERANCE_MUSD = 0.15;

const amount = z.string('is missing').transform((text, context) => {
  if (EMPTY_CELLS.includes(text)) return 0;
  const { out, plain } = AMOUNT.exec(text)?.groups ?? {};
  if (out === undefined && plain === undefined) {
    context.addIssue({ code: 'custom', message: 'is not an amount' });
    return z.NEVER;
  }
  const flow = out === undefined ? parseDigits(plain) : -parseDigits(out);
  return flow === 0 ? 0 : flow;
});

const amounts = z.record(z.string(), amount);

/**
 * Parses the HTML table of daily flows (USD millions) with a row per day, a column per fund and their total. Other rows, other columns
 * and days outside the range are skipped. A day with an invalid cell, or a total that is not the sum of its funds, is left out.
 * @throws OracleError FEED_INVALID naming the cell or the day when no day is valid
 */
export function parseFlowTable(page: unknown, { from, to }: DayRange, reader: RowReader): EtfDay[] {
  const { title: providerTitle } = reader;
  const document = parse(parseAnswer(z.string(), page, providerTitle));
  const rows = listNodes(document).flatMap((node) => (node.nodeName === 'tr' ? [getCells(node as Html.Element)] : []));
  const headerAt = rows.findIndex((cells) => cells.includes(REFERENCE_FUND));
  if (headerAt < 0) throw invalidAnswer(providerTitle, 'table', `has no column ${REFERENCE_FUND}`);
  const columns = findColumns(rows[headerAt], providerTitle);
  const dated = rows.slice(headerAt + 1).flatMap((cells) => parseDatedRow(cells));
  if (dated.length === 0) throw invalidAnswer(providerTitle, 'table', 'has no row with a date');
  const rowsInRange = dated.filter(({ day }) => day >= from && day <= to);
  return requireUsable(rowsInRange, reader, ({ day, cells }) => {
    const named = Object.fromEntries(columns.map(({ name, index }) => [name, cells[index]]));
    const { Total: totalMusd, ...fundsMusd } = parseAnswer(amounts, named, providerTitle, [formatDay(day)]);
    const sumMusd = Object.values(fundsMusd).reduce((sum, flow) => sum + flow, 0);
    if (Math.abs(totalMusd - sumMusd) <= TOLERANCE_MUSD) return { day, totalMusd, fundsMusd };
    throw invalidAnswer(providerTitle, `${formatDay(day)}.Total`, `is ${totalMusd}, but the funds add up to ${sumMusd.toFixed(1)}`);
  });
}

/** A node with all below it, in the order of the document. */
function listNodes(node: Html.Node): Html.Node[] {
  return [node, ...('childNodes' in node ? node.childNodes.flatMap(listNodes) : [])];
}

function getCells(row: Html.Element): string[] {
  const cells = row.childNodes.filter(({ nodeName }) => nodeName === 'td' || nodeName === 'th');
  // The text of a line break is white space, as that of the lines around it.
  const toText = (node: Html.Node) => ('value' in node ? node.value : node.nodeName === 'br' ? ' ' : '');
  return cells.map((cell) => listNodes(cell).map(toText).join('').replaceAll(/\s+/g, ' ').trim());
}

/** The columns of the funds and of the total, which is the last column if it has no name. */
function findColumns(header: string[], providerTitle: string): { name: string; index: number }[] {
  const named = header.findIndex((name) => TOTAL.test(name));
  const total = named < 0 && header.at(-1) === '' ? header.length - 1 : named;
  if (total < 0) throw invalidAnswer(providerTitle, 'table', 'has no column Total');
  const funds = header.map((name, index) => ({ name, index })).filter(({ name, index }) => index !== total && TICKER.test(name));
  return [...funds, { name: 'Total', index: total }];
}

function parseDatedRow(cells: string[]): { day: Day; cells: string[] }[] {
  const [date = ''] = cells;
  const midnightMs = DATE.test(date) ? Date.parse(`${date} UTC`) : Number.NaN;
  return Number.isNaN(midnightMs) ? [] : [{ day: midnightMs / DAY_MS, cells }];
}

function parseDigits(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}

/** Flows of all funds; the page has the last weeks. */
export const bitbo = createEtfSource({
  provider: 'bitbo',
  history: { days: 20 },
  request: { path: '/treasuries/etf-flows/', format: 'text' },
  read: parseFlowTable,
});

/** Flows of all funds since the first day. */
export const farside = createEtfSource({
  provider: 'farside',
  history: { from: '2024-01-11' },
  request: { path: '/bitcoin-etf-flow-all-data/', format: 'text' },
  read: parseFlowTable,
});
