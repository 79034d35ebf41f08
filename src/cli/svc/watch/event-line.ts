import { abbreviateHex, formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount, NONE } from '../text/amounts.ts';
import { type Cell, getCellText, paintCell, styleValue, type TerminalWriter } from '../text/style.ts';
import type { WatchedEvent } from './follow.ts';

const ID_WIDTH = 6;
const TYPE_WIDTH = 19;
/** By column; the cells after these are not padded. */
const PADDINGS: readonly ((text: string) => string)[] = [
  (text) => text.padStart(ID_WIDTH),
  (text) => text,
  (text) => text.padEnd(TYPE_WIDTH),
];

/** One line, truncated at the width of the terminal. */
export function formatEventLine({ id, type, timestamp, data }: WatchedEvent, writer: TerminalWriter): string {
  const cells: Cell[] = [
    { text: String(id), style: 'dim' },
    formatMinute(timestamp),
    { text: type, style: 'cyan' },
    // Event types that this version does not know are printed as JSON.
    ...(FORMATTERS[type]?.(data) ?? [JSON.stringify(data)]).filter((cell) => getCellText(cell) !== ''),
  ];
  let room = writer.width;
  return cells
    .flatMap((cell, index) => {
      const padded = PADDINGS[index]?.(getCellText(cell)) ?? getCellText(cell);
      const text = padded.slice(0, Math.max(0, room));
      room -= padded.length + 2;
      return text === '' ? [] : [paintCell(writer, cell, text)];
    })
    .join('  ')
    .trimEnd();
}

type EventData = WatchedEvent['data'];

const FORMATTERS: Record<string, (data: EventData) => Cell[]> = {
  'signal.new': (data) => [
    ...formatForecastId(data),
    getStyledValue(data, 'signal'),
    formatPercentOrDash(getNumber(data, 'confidence')),
    formatUsdField(data, 'btcPrice'),
    getText(data, 'regime'),
  ],
  'signal.resolved': (data) => [
    ...formatForecastId(data),
    getStyledValue(data, 'outcome'),
    getText(data, 'direction'),
    formatReturn(getNumber(data, 'returnBps')),
  ],
  'attestation.created': (data) => [...formatForecastId(data), getText(data, 'type'), abbreviateHex(getText(data, 'uid'))],
  'wager.placed': (data) =>
    data.placed === false
      ? [getText(data, 'date'), 'none', getText(data, 'reason')]
      : [getText(data, 'date'), getText(data, 'side'), formatUsdField(data, 'amount'), getText(data, 'market')],
  'wager.settled': (data) => [getText(data, 'date'), getStyledValue(data, 'outcome'), formatUsdField(data, 'pnl'), getText(data, 'market')],
  'regime.changed': (data) => [getText(data, 'date'), `${getText(data, 'from')} to ${getText(data, 'to')}`],
};

function formatForecastId(data: EventData): Cell[] {
  return [getText(data, 'date'), getText(data, 'horizon')];
}

function getText(data: EventData, field: string): string {
  const value = data[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function getNumber(data: EventData, field: string): number | null {
  const value = data[field];
  return typeof value === 'number' ? value : null;
}

function getStyledValue(data: EventData, field: string): Cell {
  const value = getText(data, field);
  return value === '' ? NONE : styleValue(value);
}

function formatUsdField(data: EventData, field: string): string {
  return `${formatUsdAmount(getNumber(data, field))} USD`;
}
