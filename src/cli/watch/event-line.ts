import { minute, money, NONE, percent, returnOf, short } from '../text/amounts.ts';
import { type Cell, type Pen, painted, textOf } from '../text/style.ts';
import { wordOf } from '../text/words-of.ts';
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
export function eventLine({ id, type, timestamp, data }: WatchedEvent, pen: Pen): string {
  const cells: Cell[] = [
    { text: String(id), style: 'dim' },
    minute(timestamp),
    { text: type, style: 'cyan' },
    ...(TELLERS[type] ?? othersOf)(data).filter((cell) => textOf(cell) !== ''),
  ];
  let room = pen.width;
  return cells
    .flatMap((cell, index) => {
      const padded = PADDINGS[index]?.(textOf(cell)) ?? textOf(cell);
      const text = padded.slice(0, Math.max(0, room));
      room -= padded.length + 2;
      return text === '' ? [] : [painted(pen, cell, text)];
    })
    .join('  ')
    .trimEnd();
}

type Data = WatchedEvent['data'];

const TELLERS: Record<string, (data: Data) => Cell[]> = {
  'signal.new': (data) => [
    ...whichOf(data),
    word(data, 'signal'),
    percent(number(data, 'confidence')),
    usd(data, 'btcPrice'),
    text(data, 'regime'),
  ],
  'signal.resolved': (data) => [...whichOf(data), word(data, 'outcome'), text(data, 'direction'), returnOf(number(data, 'returnBps'))],
  'attestation.created': (data) => [...whichOf(data), text(data, 'type'), short(text(data, 'uid'))],
  'wager.placed': (data) =>
    data.placed === false
      ? [text(data, 'date'), 'none', text(data, 'reason')]
      : [text(data, 'date'), text(data, 'side'), usd(data, 'amount'), text(data, 'market')],
  'wager.settled': (data) => [text(data, 'date'), word(data, 'outcome'), usd(data, 'pnl'), text(data, 'market')],
  'regime.changed': (data) => [text(data, 'date'), `${text(data, 'from')} to ${text(data, 'to')}`],
};

/** An event that this version does not know: what it has, in short. */
function othersOf(data: Data): Cell[] {
  return [JSON.stringify(data)];
}

function whichOf(data: Data): Cell[] {
  return [text(data, 'date'), text(data, 'horizon')];
}

function text(data: Data, field: string): string {
  const value = data[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function number(data: Data, field: string): number | null {
  const value = data[field];
  return typeof value === 'number' ? value : null;
}

function word(data: Data, field: string): Cell {
  const is = text(data, field);
  return is === '' ? NONE : wordOf(is);
}

function usd(data: Data, field: string): string {
  return `${money(number(data, field))} USD`;
}
