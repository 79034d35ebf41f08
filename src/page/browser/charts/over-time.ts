import { el, type Markup, withMinusSign } from '../../markup.ts';
import type { PriceDay } from '../record.ts';
import type { ApiResponses, ScorecardRow } from '../responses.ts';
import {
  buildDiamondPath,
  buildLinePath,
  createChartSvg,
  createScale,
  measureTextWidth,
  parseDayNumber,
  placeDayTicks,
  renderHorizontalGrid,
  renderVerticalGrid,
  type Scale,
} from './figure.ts';
import type { Plot } from './time-figure.ts';

/** Below this width per day, only outcomes outside their bands are marked. */
const MIN_DOT_PIXELS = 6;

/** `$98.5k`. */
function formatShortUsd(value: number) {
  return Math.abs(value) < 10_000 ? `$${Math.round(value).toLocaleString('en-US')}` : `$${Number((value / 1_000).toFixed(1))}k`;
}

/** The current price; `day` with its elapsed fraction. */
interface NewestPrice {
  day: number;
  price: number;
}

/** Closes with the outcomes of the forecasts, the fan of today's ranges, and the band of the chosen forecast. */
export function renderPriceChart(options: {
  width: number;
  /** At least one, ascending. */
  points: readonly PricePoint[];
  newest: NewestPrice | null;
  fan: Fan | null;
}): Plot {
  const { width, points, newest, fan } = options;
  const lastDay = Math.max(points[points.length - 1].day, newest?.day ?? 0);
  const frame = createTimeFrame({
    width,
    height: width < 560 ? 260 : 340,
    days: [points[0].day, lastDay],
    values: computeExtent([...points.flatMap(listPrices), ...(newest === null ? [] : [newest.price])]),
    tick: formatShortUsd,
    tickCount: 7,
  });
  const { x } = frame;
  const pixelsPerDay = (frame.right - frame.left) / (lastDay - points[0].day + 1);
  return {
    svg: renderFrame(
      frame,
      fan === null ? null : renderFan(frame, fan),
      renderCloses(frame, points),
      newest === null ? null : renderNewestPrice(frame, points, newest),
      points.map((point) => renderOutcome(frame, point, pixelsPerDay)),
    ),
    xs: points.map(({ day }) => x(day)),
    mark: (index) => renderChosenDay(frame, points[index]),
  };
}

const TOP = 10;
/** Pixels below the plot, for the labels of the days. */
const BOTTOM = 26;
const LABEL_GAP = 10;

/** Scales and axes of a chart over time: every mark within `padding` of its point lies in the view box. */
function createTimeFrame(options: {
  width: number;
  height?: number;
  /** First and last value of the horizontal axis; equal ones are spread by a day. */
  days: readonly [first: number, last: number];
  values: readonly [low: number, high: number];
  /** Format of a value on the vertical axis. */
  tick: (value: number) => string;
  tickCount?: number;
  /** Pixels that the largest mark reaches beyond its point. */
  padding?: number;
  /** Labels of the horizontal axis; days without it. */
  labels?: (x: Scale, range: readonly [number, number]) => readonly { at: number; label: string }[];
}) {
  const { width, height = 220, values, tick, tickCount = 4, padding = 6 } = options;
  const { labels = (x: Scale, range: readonly [number, number]) => placeDayTicks(x, range, x.domain) } = options;
  const [first, last] = options.days;
  const [top, bottom, right] = [TOP, height - BOTTOM, width - padding];
  const y = createScale(values, [bottom - padding, top + padding], tickCount);
  const left = Math.ceil(Math.max(...y.ticks.map((value) => measureTextWidth(tick(value))), 0)) + LABEL_GAP;
  const range = [left + padding, right - padding] as const;
  const x = createScale(first === last ? [first - 1, last + 1] : [first, last], range);
  const grid = [
    renderHorizontalGrid({ y, left, right, label: tick }),
    renderVerticalGrid({ ticks: labels(x, range), strips: [{ from: top, to: bottom }], foot: bottom + 16, width }),
  ];
  return { width, height, left, right, top, bottom, x, y, grid };
}

/** Minimum and maximum, extended by `margin` of their distance on both sides. */
function computeExtent(values: readonly number[], margin = 0.05): [number, number] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = (high - low || Math.abs(high) || 1) * margin;
  return [low - room, high + room];
}

function renderFrame(frame: TimeFrame, ...marks: Markup[]) {
  return createChartSvg(frame, frame.grid, ...marks);
}

function listPrices({ close, band, ahead }: PricePoint) {
  return [
    ...(close === null ? [] : [close]),
    ...(band === null ? [] : [band.low, band.high]),
    ...(ahead === null ? [] : [ahead.range80.low, ahead.range80.high]),
  ];
}

/** The 80 % and 50 % ranges of today, from the price at signal time to the end of each horizon. */
function renderFan({ x, y }: TimeFrame, { day, price, ends }: Fan) {
  return (['range80', 'range50'] as const).map((range) =>
    el('path', {
      class: 'fan',
      d: buildBandPath([
        [x(day), y(price), y(price)],
        ...ends.map((end) => [x(end.day), y(end[range].high), y(end[range].low)] as [number, number, number]),
      ]),
    }),
  );
}

/** Path data of the area between an upper and a lower line. */
function buildBandPath(points: readonly (readonly [x: number, upper: number, lower: number])[]) {
  const upper = points.map(([x, top]) => [x, top] as const);
  const lower = points.map(([x, , bottom]) => [x, bottom] as const).reverse();
  return points.length === 0 ? '' : `${buildLinePath([...upper, ...lower])}Z`;
}

type TimeFrame = ReturnType<typeof createTimeFrame>;

/** `h0` draws a single day as a point, with round line caps. */
function renderCloses({ x, y }: TimeFrame, points: readonly PricePoint[]) {
  const known = points.flatMap(({ day, close }) => (close === null ? [] : [{ day, close }]));
  return splitAtGaps(known).map((part) =>
    el('path', { class: 'price-line', d: `${buildLinePath(part.map(({ day, close }) => [x(day), y(close)]))}h0` }),
  );
}

/** Splits at missing days. @param days ascending */
export function splitAtGaps<D extends { day: number }>(days: readonly D[]): D[][] {
  const stretches: D[][] = [];
  for (const one of days) {
    const stretch = stretches.at(-1);
    if (stretch !== undefined && one.day - stretch[stretch.length - 1].day <= 1) stretch.push(one);
    else stretches.push([one]);
  }
  return stretches;
}

function renderNewestPrice({ x, y }: TimeFrame, points: readonly PricePoint[], { day, price }: NewestPrice) {
  const last = points.findLast(({ close }) => close !== null);
  return [
    last === undefined ? null : el('line', { class: 'since', x1: x(last.day), y1: y(last.close ?? price), x2: x(day), y2: y(price) }),
    el('circle', { class: 'newest', cx: x(day).toFixed(1), cy: y(price).toFixed(1), r: 3.5 }),
  ];
}

/** A diamond outside the band; otherwise a dot, where there is room. */
function renderOutcome({ x, y }: TimeFrame, { day, close, fell }: PricePoint, pixelsPerDay: number) {
  if (close === null || fell === null) return null;
  if (fell !== 'inside') return el('path', { class: 'outside', d: buildDiamondPath(x(day), y(close), pixelsPerDay < 3 ? 3.5 : 5) });
  return pixelsPerDay < MIN_DOT_PIXELS ? null : el('circle', { class: 'inside', cx: x(day).toFixed(1), cy: y(close).toFixed(1), r: 3 });
}

function renderChosenDay(frame: TimeFrame, point: PricePoint) {
  const ends = listPrices({ ...point, ahead: point.band === null ? point.ahead : null, band: null });
  return [renderBand(frame, point), renderCrosshair(frame, frame.x(point.day), ends.map(frame.y))];
}

/** A line through the chosen point, and a ring around each of its values. */
function renderCrosshair({ top, bottom }: Pick<TimeFrame, 'top' | 'bottom'>, x: number, ys: readonly number[] = []): Markup {
  return [
    el('line', { class: 'cursor', x1: x.toFixed(1), x2: x.toFixed(1), y1: top, y2: bottom }),
    ys.map((y) => el('circle', { class: 'ring', cx: x.toFixed(1), cy: y.toFixed(1), r: 4.5 })),
  ];
}

/** The band of the forecast that ends on the chosen day: a fan from the price at the opening of its window. */
function renderBand({ x, y }: TimeFrame, { day, band, row }: PricePoint) {
  if (band === null || row === null || row.btcAtSignal === null) return null;
  const start = cutBand({ from: x.domain[0], opens: parseDayNumber(row.windowOpensAt), day, price: row.btcAtSignal, band });
  return [
    el('path', {
      class: 'band',
      d: buildBandPath([
        [x(start.day), y(start.high), y(start.low)],
        [x(day), y(band.high), y(band.low)],
      ]),
    }),
    el('line', { class: 'median', x1: x(start.day), x2: x(day), y1: y(start.median), y2: y(band.median) }),
    el('line', { class: 'interval', x1: x(day), x2: x(day), y1: y(band.low), y2: y(band.high) }),
  ];
}

/** Where a band that opened before the chart enters it. @param options `from`: first day of the chart; `price`: at `opens` */
export function cutBand(options: {
  from: number;
  opens: number;
  day: number;
  price: number;
  band: { low: number; median: number; high: number };
}) {
  const { from, opens, day, price, band } = options;
  const share = Math.max(0, Math.min(1, (from - opens) / (day - opens)));
  const at = (end: number) => price + share * (end - price);
  return { day: Math.max(opens, Math.min(from, day)), low: at(band.low), median: at(band.median), high: at(band.high) };
}

/** End of a horizon of today's fan. */
interface FanEnd {
  day: number;
  horizon: string;
  range50: { low: number; high: number };
  range80: FanEnd['range50'];
}

/** Expected ranges of today's forecasts, without direction; `ends` ascending. */
interface Fan {
  /** Opening of the windows, and the price at signal time. */
  day: number;
  price: number;
  date: string;
  ends: readonly FanEnd[];
}

/** A day of the price chart; `ahead`: the range of today that ends then. */
export interface PricePoint extends PriceDay {
  ahead: FanEnd | null;
}

/** The ranges of the newest day; null without any. */
export function buildFan(range: Pick<ApiResponses['range'], 'date' | 'windowOpensAt' | 'btcPrice' | 'horizons'> | null): Fan | null {
  const ends = (range?.horizons ?? []).flatMap(({ resolvesAt, horizon, ranges }) => {
    const [range50, range80] = [0.5, 0.8].map((wanted) => ranges.find(({ share }) => share === wanted));
    return range50 === undefined || range80 === undefined ? [] : [{ day: parseDayNumber(resolvesAt), horizon, range50, range80 }];
  });
  if (range === null || ends.length === 0) return null;
  return { day: parseDayNumber(range.windowOpensAt), price: range.btcPrice, date: range.date, ends };
}

/**
 * Days of the record and the ends of the fan.
 * @param rows of one horizon
 * @returns ascending
 */
export function toPricePoints(rows: readonly ScorecardRow[], fan: Fan | null): PricePoint[] {
  const points = new Map(toPriceDays(rows).map((day) => [day.day, { ...day, ahead: null as FanEnd | null }]));
  for (const end of fan?.ends ?? []) {
    const known = points.get(end.day) ?? { day: end.day, close: null, row: null, band: null, fell: null };
    points.set(end.day, { ...known, ahead: end });
  }
  return [...points.values()].sort((a, b) => a.day - b.day);
}

/**
 * @param rows of one horizon
 * @returns ascending
 */
export function toPriceDays(rows: readonly ScorecardRow[]): PriceDay[] {
  const days = new Map<number, PriceDay>();
  const at = (day: number) => {
    const known = days.get(day) ?? { day, close: null, row: null, band: null, fell: null };
    days.set(day, known);
    return known;
  };
  for (const row of rows) {
    if (row.btcAtSignal !== null && !row.provisional) at(parseDayNumber(row.windowOpensAt)).close = row.btcAtSignal;
    const band = row.status === 'VOID' ? null : row.band80;
    if (band === null && row.btcAtResolution === null) continue;
    const end = at(parseDayNumber(row.resolvesAt));
    if (row.btcAtResolution !== null) end.close = row.btcAtResolution;
    if (band !== null) Object.assign(end, { row, band, fell: locateInBand(band, row.btcAtResolution) });
  }
  return [...days.values()].sort((a, b) => a.day - b.day);
}

function locateInBand({ low, high }: { low: number; high: number }, price: number | null) {
  if (price === null) return null;
  if (price < low) return 'below';
  return price > high ? 'above' : 'inside';
}

export type CrowdWeek = ApiResponses['crowd']['weeks'][number] & { day: number };

/** Pixels from the axis to the middle of a result's triangle, and half its height. */
const [RESULT_OFFSET, RESULT_RADIUS] = [9, 4];

/**
 * Both probabilities of each weekly question, and its result as a triangle at the top (YES) or bottom (NO).
 * @param options `points`: at least one, ascending
 */
export function renderCrowdChart({ width, points }: { width: number; points: readonly CrowdWeek[] }): Plot {
  const frame = createTimeFrame({
    width,
    height: 240,
    days: [points[0].day, points[points.length - 1].day],
    values: [0, 1],
    tick: (value) => `${Math.round(100 * value)} %`,
    padding: RESULT_OFFSET + RESULT_RADIUS + 1,
  });
  const { x, y } = frame;
  return {
    svg: renderFrame(
      frame,
      renderReference(frame, 0.5),
      points.map((week) => renderWeekMarks(week, { at: x(week.day), y })),
    ),
    xs: points.map(({ day }) => x(day)),
    mark: (index) => renderCrosshair(frame, x(points[index].day)),
  };
}

/** A value to compare with, drawn across. */
function renderReference({ left, right, y }: TimeFrame, value: number) {
  return el('line', { class: 'zero', x1: left, x2: right, y1: y(value).toFixed(1), y2: y(value).toFixed(1) });
}

function renderWeekMarks({ marketProbability, oracleProbability, winner }: CrowdWeek, { at, y }: { at: number; y: Scale }) {
  const [crowd, oracle] = [y(marketProbability), oracleProbability === null ? null : y(oracleProbability)];
  return [
    oracle === null ? null : el('line', { class: 'between', x1: at.toFixed(1), x2: at.toFixed(1), y1: crowd, y2: oracle }),
    el('rect', { class: 'crowd-mark', x: (at - 4).toFixed(1), y: (crowd - 4).toFixed(1), width: 8, height: 8 }),
    oracle === null ? null : el('circle', { class: 'dot', cx: at.toFixed(1), cy: oracle.toFixed(1), r: 5 }),
    winner === null ? null : renderResult(at, winner === 'YES' ? y(1) - RESULT_OFFSET : y(0) + RESULT_OFFSET, winner === 'YES' ? -1 : 1),
  ];
}

/** A triangle that points up (-1) or down (1). */
function renderResult(x: number, y: number, way: 1 | -1) {
  const corners = [
    [x - 5, y - RESULT_RADIUS * way],
    [x + 5, y - RESULT_RADIUS * way],
    [x, y + RESULT_RADIUS * way],
  ] as const;
  return el('path', { class: 'came-true', d: `${buildLinePath(corners)}Z` });
}

const TICKS = 4;

/** Profit of all settled wagers up to a day. */
interface ProfitPoint {
  day: number;
  profit: number;
}

/**
 * Cumulative profit by day, from the level before the first.
 * @param options `points`: at least one, ascending; `before`: the point before the first; null for the beginning of the account
 */
export function renderProfitChart(options: { width: number; points: readonly ProfitPoint[]; before: ProfitPoint | null }): Plot {
  const { width, points, before } = options;
  const first = points[0].day - 1;
  const start = before?.profit ?? 0;
  const frame = createTimeFrame({
    width,
    days: [first, points[points.length - 1].day],
    values: extendToWholeTicks([0, start, ...points.map(({ profit }) => profit)]),
    tick: (value) => withMinusSign(value.toLocaleString('en-US')),
    tickCount: TICKS,
  });
  const { x, y } = frame;
  const steps = [[x(first), y(start)] as const, ...points.map(({ day, profit }) => [x(day), y(profit)] as const)];
  // A step line: profit changes only when a wager is settled.
  const corners = steps.flatMap(([at, level], index) =>
    (index === 0 ? [level] : [steps[index - 1][1], level]).map((height) => [at, height] as const),
  );
  return {
    svg: renderFrame(frame, renderReference(frame, 0), el('path', { class: 'line', d: buildLinePath(corners) })),
    xs: steps.slice(1).map(([at]) => at),
    isStepped: true,
    mark: (index) => renderCrosshair(frame, steps[index + 1][0], [steps[index + 1][1]]),
  };
}

/**
 * Extends the range to whole ticks, so that every part of the line lies between two labels.
 * @param values at least two distinct values, or all 0
 */
export function extendToWholeTicks(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { ticks } = createScale([low, high], [0, 1], TICKS);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low || 1;
  return [step * Math.floor(low / step), step * Math.ceil(high / step)];
}

/** A value of a day, with the bounds of its interval where there is one. */
type SeriesPoint = Record<'day' | 'value', number> & Record<'low' | 'high', number | null>;

/** A value by day with its interval. A single day is a dot. @param options `reference`: a value to compare with, drawn across */
export function renderSeriesChart(options: {
  width: number;
  /** At least one, ascending. */
  points: readonly SeriesPoint[];
  reference: number;
  tick: (value: number) => string;
}): Plot {
  const { width, points, reference, tick } = options;
  const frame = createTimeFrame({
    width,
    days: [points[0].day, points[points.length - 1].day],
    values: computeExtent([reference, ...points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])]),
    tick,
  });
  const { x, y } = frame;
  const bounded = points.flatMap(({ day, low, high }) => (low === null || high === null ? [] : [[x(day), y(high), y(low)] as const]));
  const line = points.map(({ day, value }) => [x(day), y(value)] as const);
  return {
    svg: renderFrame(
      frame,
      bounded.length < 2
        ? bounded.map(([at, high, low]) => el('line', { class: 'interval', x1: at, x2: at, y1: high, y2: low }))
        : el('path', { class: 'band', d: buildBandPath(bounded) }),
      renderReference(frame, reference),
      points.length === 1
        ? el('circle', { class: 'dot', cx: line[0][0], cy: line[0][1], r: 4 })
        : el('path', { class: 'line', d: buildLinePath(line) }),
    ),
    xs: line.map(([at]) => at),
    mark: (index) => renderCrosshair(frame, line[index][0], [line[index][1]]),
  };
}
