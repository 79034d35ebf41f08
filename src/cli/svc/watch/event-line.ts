import { abbreviateHex, formatMinute, formatPercentOrDash, formatReturn, formatUsdAmount, NONE } from '../text/amounts.ts';
import { styleValue } from '../text/outcome-style.ts';
import { type Cell, getCellText, paintCell, type TerminalWriter } from '../text/style.ts';
import type { WatchedEvent } from './follow.ts';

const ID_WIDTH = 6;
const TYPE_WIDTH = 19;
/** By the place of a cell. */
const PADDINGS: readonly ((text: string) => string)[] = [
  (text) => text.padStart(ID_WIDTH),
  (text) => text,
  (text) => text.padEnd(TYPE_WIDTH),
];

/** An event as one line for a person, cut where the terminal ends. */
export function formatEventLine({ id, type, timestamp, data }: WatchedEvent, writer: TerminalWriter): string {
  const cells: Cell[] = [
    { text: String(id), style: 'dim' },
    formatMinute(timestamp),
    { text: type, style: 'cyan' },
    ...(FORMATTERS[type] ?? formatUnknown)(data).filter((cell) => getCellText(cell) !== ''),
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

/** An event that this version does not know: what it has, in short. */
function formatUnknown(data: EventData): Cell[] {
  return [JSON.stringify(data)];
}

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
  const is = getText(data, field);
  return is === '' ? NONE : styleValue(is);
}

function formatUsdField(data: EventData, field: string): string {
  return `${formatUsdAmount(getNumber(data, field))} USD`;
}
