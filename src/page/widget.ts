import { getBigMoveShare } from '../forecast/move.ts';
import { el, type Markup, type MarkupElement } from './markup.ts';

/** The card that other sites show in a frame: text and drawings without scripts. */
export function renderCard(card: WidgetCard, size: WidgetSize): MarkupElement {
  return el('main', { class: size }, size === 'small' ? renderLines(card) : renderWholeCard(card, size));
}

/** What is left of a card in 64 pixels of height. */
function renderLines(card: WidgetCard): Markup {
  const { moveSize, record, simulated, replayed, recordReplayed } = card;
  const range = findRange(card);
  const span = range === undefined ? formatDollars(card.btcPrice) : `80 %: ${formatRange(range)}`;
  const right = record === null ? 'No outcome yet' : `${record.wins} of ${record.resolved} right (${formatInterval(record)})`;
  return [
    el('h1', {}, renderLink(card, `Bitcoin ${card.horizon}`), moveSize !== null && [' ', el('strong', {}, `${moveSize} move`)]),
    el('p', {}, `${span} USD${simulated ? ', simulated' : ''}`),
    el('p', { class: 'dim' }, `${card.signal}: ${right}${replayed || recordReplayed ? ', replayed' : ''}`),
  ];
}

/** `30 to 70 %`. */
export function formatInterval({ low, high }: Interval): string {
  return `${(100 * low).toFixed(0)} to ${formatShare(high)}`;
}

function renderWholeCard(card: WidgetCard, size: WidgetSize): Markup {
  return [
    el('h1', {}, `Bitcoin, ${card.horizon}, ${card.date}`),
    renderMove(card),
    size === 'large' ? renderFan(card) : renderBar(card),
    el('p', { class: 'dim' }, 'Direction, no proven skill: ', el('strong', {}, card.signal), ` ${formatConfidence(card)}`),
    renderRecord(card),
    el(
      'p',
      { class: 'dim' },
      size === 'large' ? `Regime ${card.regime}. ` : '',
      `${formatDataNotes(card)} `,
      renderLink(card, 'Full record'),
    ),
  ];
}

/** What has skill comes first. */
function renderMove(card: WidgetCard): Markup {
  if (card.moveSize === null || card.pBig === null) return null;
  const text = `move; ${formatShare(card.pBig)} beyond ${formatBigMove(card.horizon)}`;
  return el('p', { class: 'signal' }, card.moveSize, ' ', el('span', {}, text));
}

/** `3 %` for `1d`. */
export function formatBigMove(horizon: string): string {
  return formatShare(getBigMoveShare(Number.parseInt(horizon, 10)));
}

function renderLink({ link }: WidgetCard, text: string): Markup {
  return el('a', { href: link, target: '_blank', rel: 'noopener noreferrer' }, text);
}

function renderBar(card: WidgetCard): Markup {
  const range = findRange(card);
  if (range === undefined) return null;
  const { low, high } = range;
  const price = card.btcPrice;
  const x = Math.round((WIDTH * (price - low)) / (high - low));
  const label = `Expected 80 % range at the end: ${formatRange(range)} USD, around ${formatDollars(price)}`;
  const ends = [formatDollars(low), `80 % range around ${formatDollars(price)} USD`, formatDollars(high)];
  return [
    drawing(label, 12, [el('rect', { class: 'band', x: 0, y: 1, width: WIDTH, height: 10 }), drawLine('tick', [x, 0], [x, 12])]),
    el(
      'p',
      { class: 'ends' },
      ends.map((end) => el('span', {}, end)),
    ),
  ];
}

function renderFan(card: WidgetCard): Markup {
  const { ranges80, btcPrice, horizon } = card;
  if (ranges80.length === 0) return null;
  const row = (tag: 'th' | 'td', label: string, format: (range: WidgetRange) => string) =>
    el('tr', {}, [
      el('th', { scope: 'row' }, label),
      ranges80.map((range) => el(tag, { scope: tag === 'th' && 'col', class: `${range.days}d` === horizon && 'chosen' }, format(range))),
    ]);
  return [
    el('p', { class: 'dim' }, `Expected 80 % range by days, without direction, around ${formatDollars(btcPrice)} USD`),
    drawRangeFan(ranges80, btcPrice, Number.parseInt(horizon, 10)),
    el('table', {}, [
      row('th', 'Days', ({ days }) => String(days)),
      row('td', 'High', ({ high }) => formatDollars(high)),
      row('td', 'Low', ({ low }) => formatDollars(low)),
    ]),
  ];
}

function formatRange({ low, high }: Interval): string {
  return `${formatDollars(low)} to ${formatDollars(high)}`;
}

function renderRecord({ record }: WidgetCard): Markup {
  if (record === null) return el('p', { class: 'dim' }, 'No forecast of this horizon is scored yet: no claim is made.');
  const { alwaysUp } = record;
  return [
    drawRecord(record),
    el('p', { class: 'dim' }, formatRecord(record), alwaysUp === null ? '' : `; always UP ${formatShare(alwaysUp)} (dashed)`),
  ];
}

/** Units of a drawing that is stretched to the width of the card; its strokes keep their width. */
const WIDTH = 300;
const FAN_HEIGHT = 96;

/** The ranges of all horizons over their days, with the chosen one marked. */
function drawRangeFan(ranges: readonly WidgetRange[], price: number, chosenDays: number): MarkupElement {
  const last = ranges.at(-1)!;
  const [top, bottom] = [Math.max(...ranges.map(({ high }) => high)), Math.min(...ranges.map(({ low }) => low))];
  const toX = (days: number) => round((WIDTH * days) / last.days);
  const toY = (value: number) => round((FAN_HEIGHT * (top - value)) / (top - bottom));
  const upper = ranges.map(({ days, high }) => `${toX(days)},${toY(high)}`);
  const lower = ranges.map(({ days, low }) => `${toX(days)},${toY(low)}`).reverse();
  const start = `0,${toY(price)}`;
  const chosen = ranges.find(({ days }) => days === chosenDays);
  const spans = ranges.map((range) => `${range.days}d ${formatRange(range)}`);
  return drawing(`Expected 80 % ranges in USD: ${spans.join('; ')}`, FAN_HEIGHT, [
    el('polygon', { class: 'band', points: [start, ...upper, ...lower].join(' ') }),
    drawLine('base', [0, toY(price)], [WIDTH, toY(price)]),
    chosen === undefined ? null : drawLine('tick', [toX(chosenDays), toY(chosen.high)], [toX(chosenDays), toY(chosen.low)]),
  ]);
}

/** The share of right calls with its interval between 0 and 1; dashed: always UP. */
function drawRecord(record: WidgetRecord): MarkupElement {
  const [at, from, to] = [record.accuracy, record.low, record.high].map((share) => round(WIDTH * share));
  const always = record.alwaysUp === null ? null : round(WIDTH * record.alwaysUp);
  return drawing(formatRecord(record), 14, [
    drawLine('axis', [0, 7], [WIDTH, 7]),
    drawLine('bar', [from, 7], [to, 7]),
    [from, to].map((x) => drawLine('bar', [x, 3], [x, 11])),
    always === null ? null : drawLine('base', [always, 0], [always, 14]),
    drawLine('dot', [at, 7], [at, 7]),
  ]);
}

function drawing(label: string, height: number, content: Markup): MarkupElement {
  return el('svg', { viewBox: `0 0 ${WIDTH} ${height}`, height, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, content);
}

type Point = readonly [x: number, y: number];

export function drawLine(name: string, [x1, y1]: Point, [x2, y2]: Point): MarkupElement {
  return el('line', { class: name, x1, y1, x2, y2, 'vector-effect': 'non-scaling-stroke' });
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

/** What a card shows, as its caller may see it. */
export interface WidgetCard {
  moveSize: string | null;
  /** P(move beyond 3 % in a day, beyond 5 % in more). */
  pBig: number | null;
  signal: string;
  confidence: number | null;
  horizon: string;
  date: string;
  btcPrice: number;
  regime: string;
  /** Central 80 % ranges of the price at the end, around that at signal time, by days; empty for a day without stored widths. */
  ranges80: readonly WidgetRange[];
  /** Hit rate with its 95 % interval; null before the first outcome. */
  record: WidgetRecord | null;
  source: string;
  simulated: boolean;
  /** Whether this forecast, and any of the record, was replayed. */
  replayed: boolean;
  recordReplayed: boolean;
  link: string;
}

export interface Interval {
  low: number;
  high: number;
}

interface WidgetRange extends Interval {
  days: number;
}

interface WidgetRecord extends Interval {
  accuracy: number;
  wins: number;
  resolved: number;
  alwaysUp: number | null;
}

function findRange({ ranges80, horizon }: WidgetCard): WidgetRange | undefined {
  return ranges80.find(({ days }) => `${days}d` === horizon);
}

function formatConfidence({ signal, confidence }: WidgetCard): string {
  if (signal === 'GATED') return 'until its outcome';
  return confidence === null ? '' : `${(100 * confidence).toFixed(1)} % confident`;
}

function formatDataNotes({ simulated, replayed, recordReplayed, source }: WidgetCard): string {
  return [
    simulated ? 'Simulated market.' : `Market data: ${source}.`,
    replayed ? 'Replayed forecast.' : '',
    recordReplayed ? 'Replayed days in the record.' : '',
  ]
    .filter((note) => note !== '')
    .join(' ');
}

function formatRecord({ accuracy, low, high, wins, resolved }: WidgetRecord): string {
  return `${wins} of ${resolved} right: ${formatShare(accuracy)}, 95 % interval ${formatShare(low)} to ${formatShare(high)}`;
}

export function formatShare(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

/** Whole dollars. */
function formatDollars(price: number): string {
  return Math.round(price).toLocaleString('en-US');
}

/** What a reader may choose of an embedded card. */
export interface WidgetOptions {
  horizonDays: number;
  theme: (typeof WIDGET_THEMES)[number];
  size: WidgetSize;
}

export const WIDGET_THEMES = ['auto', 'light', 'dark'] as const;
export const WIDGET_SIZES = ['small', 'medium', 'large'] as const;

type WidgetSize = (typeof WIDGET_SIZES)[number];
