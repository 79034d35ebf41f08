import { el, type Markup, type MarkupElement } from '../markup.ts';
import { formatDollars, formatRecord, type WidgetRange, type WidgetRecord } from './figures.ts';

/** Units of a drawing that is stretched to the width of the card; its strokes keep their width. */
const WIDTH = 300;
const FAN_HEIGHT = 96;

/** The range of one horizon as a bar, with the price at signal time. */
export function drawRangeBar({ low, high }: WidgetRange, price: number): MarkupElement {
  const x = Math.round((WIDTH * (price - low)) / (high - low));
  const label = `80 % range at the end: ${formatDollars(low)} to ${formatDollars(high)} USD, around ${formatDollars(price)}`;
  return drawing(label, 12, [el('rect', { class: 'band', x: 0, y: 1, width: WIDTH, height: 10 }), line('tick', [x, 0], [x, 12])]);
}

/** The ranges of all horizons over their days, with the chosen one marked. */
export function drawRangeFan(ranges: readonly WidgetRange[], price: number, chosenDays: number): MarkupElement {
  const last = ranges.at(-1)!;
  const [top, bottom] = [Math.max(...ranges.map(({ high }) => high)), Math.min(...ranges.map(({ low }) => low))];
  const toX = (days: number) => round((WIDTH * days) / last.days);
  const toY = (value: number) => round((FAN_HEIGHT * (top - value)) / (top - bottom));
  const upper = ranges.map(({ days, high }) => `${toX(days)},${toY(high)}`);
  const lower = ranges.map(({ days, low }) => `${toX(days)},${toY(low)}`).reverse();
  const start = `0,${toY(price)}`;
  const chosen = ranges.find(({ days }) => days === chosenDays);
  const spans = ranges.map(({ days, low, high }) => `${days}d ${formatDollars(low)} to ${formatDollars(high)}`);
  return drawing(`80 % ranges in USD: ${spans.join('; ')}`, FAN_HEIGHT, [
    el('polygon', { class: 'band', points: [start, ...upper, ...lower].join(' ') }),
    line('base', [0, toY(price)], [WIDTH, toY(price)]),
    chosen === undefined ? null : line('tick', [toX(chosenDays), toY(chosen.high)], [toX(chosenDays), toY(chosen.low)]),
  ]);
}

/** The share of right calls with its interval between 0 and 1; dashed: always UP. */
export function drawRecord(record: WidgetRecord): MarkupElement {
  const [at, from, to] = [record.accuracy, record.low, record.high].map((share) => round(WIDTH * share));
  const always = record.alwaysUp === null ? null : round(WIDTH * record.alwaysUp);
  return drawing(formatRecord(record), 14, [
    line('axis', [0, 7], [WIDTH, 7]),
    line('bar', [from, 7], [to, 7]),
    [from, to].map((x) => line('bar', [x, 3], [x, 11])),
    always === null ? null : line('base', [always, 0], [always, 14]),
    line('dot', [at, 7], [at, 7]),
  ]);
}

function drawing(label: string, height: number, content: Markup): MarkupElement {
  return el('svg', { viewBox: `0 0 ${WIDTH} ${height}`, height, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, content);
}

type Point = readonly [x: number, y: number];

function line(name: string, [x1, y1]: Point, [x2, y2]: Point): MarkupElement {
  return el('line', { class: name, x1, y1, x2, y2, 'vector-effect': 'non-scaling-stroke' });
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
