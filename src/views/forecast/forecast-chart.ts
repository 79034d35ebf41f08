import { el, type Markup } from '../markup.ts';
import type { ForecastFacts } from './forecast-facts.ts';
import { formatDayAndMonth, formatUsd } from './format.ts';

/** Units of the drawing, about pixels on a phone. */
const SIZE = { width: 360, height: 210 };
const EDGES = { left: 58, right: 64, top: 16, bottom: 26 };
const PADDING_SHARE = 0.12;

interface PricePoint {
  at: string;
  price: number;
  what: string;
}

/** Known prices in their order: at signal time, daily closes, and the outcome. */
export function listPricePoints({ madeAt, endsAt, closes, price }: ForecastFacts): PricePoint[] {
  const start = price.atSignal === null ? [] : [{ at: madeAt, price: price.atSignal, what: 'At signal time' }];
  const within = closes.filter(({ at }) => at < endsAt).map((close) => ({ ...close, what: 'Close' }));
  const end = price.atEnd === null ? [] : [{ at: endsAt, price: price.atEnd, what: 'Outcome' }];
  return [...start, ...within, ...end];
}

/** Prices from the forecast to its outcome, and the 80 % range at the end. Null without a price. */
export function renderForecastChart(facts: ForecastFacts, attributes: Record<string, string | number> = {}): Markup {
  const points = listPricePoints(facts);
  if (points.length === 0) return null;
  const scale = createScale(facts, points);
  const viewBox = `0 0 ${SIZE.width} ${SIZE.height}`;
  return el('svg', { class: 'chart forecast-chart', viewBox, role: 'img', 'aria-label': describeChart(facts, points), ...attributes }, [
    renderAxes(facts, scale),
    renderBand(facts, points[0], scale),
    el('polyline', { class: 'price-line', points: points.map(({ at, price }) => `${scale.x(at)},${scale.y(price)}`).join(' ') }),
    renderMark(points[0], scale, 'inside'),
    facts.price.atEnd !== null && renderOutcome(facts, points[points.length - 1], scale),
  ]);
}

type Scale = ReturnType<typeof createScale>;

function createScale({ madeAt, endsAt, band }: ForecastFacts, points: readonly PricePoint[]) {
  const prices = [...points.map(({ price }) => price), ...(band === null ? [] : [band.low, band.high])];
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const padding = (most - least || 0.01 * most) * PADDING_SHARE;
  const [from, to] = [Date.parse(madeAt), Date.parse(endsAt)];
  const place = (share: number, start: number, end: number) => (start + share * (end - start)).toFixed(1);
  return {
    prices: { least, most },
    x: (at: string) => place((Date.parse(at) - from) / (to - from), EDGES.left, SIZE.width - EDGES.right),
    y: (price: number) => place((price - least + padding) / (most - least + 2 * padding), SIZE.height - EDGES.bottom, EDGES.top),
  };
}

function renderAxes({ madeAt, windowOpensAt, endsAt }: ForecastFacts, { prices, x, y }: Scale): Markup {
  const [left, right, foot] = [EDGES.left, SIZE.width - EDGES.right, SIZE.height - EDGES.bottom];
  const lines = [prices.least, (prices.least + prices.most) / 2, prices.most].map((price) => [
    el('line', { x1: left, x2: right, y1: y(price), y2: y(price) }),
    el('text', { x: left - 6, y: y(price), dy: 4, 'text-anchor': 'end' }, formatUsd(price)),
  ]);
  return [
    el('g', { class: 'grid' }, lines),
    el('line', { class: 'since', x1: x(windowOpensAt), x2: x(windowOpensAt), y1: EDGES.top, y2: foot }),
    el('text', { x: left, y: foot + 18, 'text-anchor': 'start' }, formatDayAndMonth(madeAt)),
    el('text', { x: right, y: foot + 18, 'text-anchor': 'end' }, formatDayAndMonth(endsAt)),
  ];
}

function renderBand({ endsAt, band }: ForecastFacts, start: PricePoint, { x, y }: Scale): Markup {
  if (band === null) return null;
  const end = x(endsAt);
  const corners = [`${x(start.at)},${y(start.price)}`, `${end},${y(band.low)}`, `${end},${y(band.high)}`];
  return el('polygon', { class: band.isCommitted ? 'band' : 'band ahead', points: corners.join(' ') });
}

function renderMark({ at, price }: PricePoint, { x, y }: Scale, className: string): Markup {
  return el('circle', { class: className, cx: x(at), cy: y(price), r: 4 });
}

/** A diamond outside the range, a circle within. */
function renderOutcome({ band }: ForecastFacts, end: PricePoint, scale: Scale): Markup {
  const isOutside = band !== null && (end.price < band.low || end.price > band.high);
  const [x, y] = [Number(scale.x(end.at)), Number(scale.y(end.price))];
  const mark = isOutside
    ? el('path', { class: 'outside', d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` })
    : renderMark(end, scale, 'inside');
  return [mark, el('text', { class: 'label', x: x + 8, y, dy: 4 }, formatUsd(end.price))];
}

function describeChart({ band, endsAt }: ForecastFacts, points: readonly PricePoint[]): string {
  const [first, last] = [points[0], points[points.length - 1]];
  const range = band === null ? '' : ` 80 % range on ${formatDayAndMonth(endsAt)}: ${formatUsd(band.low)} to ${formatUsd(band.high)}.`;
  return `BTC from ${formatUsd(first.price)} to ${formatUsd(last.price)}.${range}`;
}
