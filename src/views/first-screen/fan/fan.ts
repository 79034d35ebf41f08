import { el, type Markup } from '../../markup.ts';
import type { FirstScreenData, OwnRange } from '../first-screen-data.ts';
import { formatWholePercent, formatWholeUsd } from '../format-figures.ts';
import { computeFan, FAN_SIZE, type FanGeometry, type Point } from './fan-geometry.ts';

/** Keeps the first and last tick: more would be more to read. */
const SHOWN_TICKS = 2;
/** Further right the price stands on the left of its dot. */
const LAST_LABEL_X = 60;

/** Expected range of the price over all horizons; the bands are stretched to the width, the texts are not. */
export function renderFan({ range, price, horizonDays, access }: FirstScreenData): Markup {
  const own = access.own;
  const fan = range === null ? null : computeFan(range, price, own === null ? [] : [own.low, own.high]);
  if (fan === null) return el('svg', { class: 'fan', 'aria-hidden': 'true' });
  const end = fan.ends.find(({ horizon }) => horizon === `${horizonDays}d`);
  const label =
    'Expected range of the price 1, 2, 3 and 7 days ahead, without direction: 50, 80 and 90 % bands around the price at signal time';
  return el('svg', { class: 'fan', role: 'img', 'aria-label': label }, [
    renderBands(fan, own === null || end === undefined ? [] : listOwnPoints(fan, end.x, own)),
    renderTicks(fan),
    end === undefined ? null : el('line', { class: 'fan-chosen', x1: percent(end.x), x2: percent(end.x), y1: '0%', y2: '100%' }),
    renderBandLabels(fan),
    own === null || end === undefined ? null : renderMedian(fan, end.x, own),
    fan.now === null ? null : renderNow(fan.now, price?.price ?? 0),
  ]);
}

/** The bands, and over them the central 80 % of the forecast itself. */
function renderBands({ bands }: FanGeometry, own: readonly Point[]): Markup {
  const viewBox = `0 0 ${FAN_SIZE} ${FAN_SIZE}`;
  return el('svg', { viewBox, preserveAspectRatio: 'none', width: '100%', height: '100%' }, [
    bands.map(({ share, points }) =>
      el('polygon', { class: `fan-band fan-${Math.round(100 * share)}`, points: points.map(formatPoint).join(' ') }),
    ),
    own.length > 0 && el('polygon', { class: 'fan-own', points: own.map(formatPoint).join(' ') }),
  ]);
}

function renderTicks({ ticks }: FanGeometry): Markup {
  const shown = ticks.length <= SHOWN_TICKS ? ticks : [ticks[0], ticks[ticks.length - 1]];
  return shown.map(({ price, y }) => [
    el('line', { class: 'fan-grid', x1: '0%', x2: '100%', y1: percent(y), y2: percent(y) }),
    el('text', { x: '0', y: percent(y), dy: '-0.3em' }, formatWholeUsd(price)),
  ]);
}

/** At the right end, below the upper edge of each band. */
function renderBandLabels({ bands }: FanGeometry): Markup {
  return bands.map(({ share, upper }) =>
    el('text', { class: 'fan-share', x: '100%', y: percent(upper), dx: -5, dy: '1.05em', 'text-anchor': 'end' }, formatWholePercent(share)),
  );
}

function listOwnPoints({ start, toY }: FanGeometry, x: number, { low, high }: OwnRange): Point[] {
  return [start, { x, y: toY(high) }, { x, y: toY(low) }];
}

function renderMedian({ toY }: FanGeometry, x: number, { median }: OwnRange): Markup {
  return el('circle', { class: 'fan-median', cx: percent(x), cy: percent(toY(median)), r: 4 });
}

function renderNow({ x, y }: Point, price: number): Markup {
  return [
    el('circle', { class: 'fan-now', cx: percent(x), cy: percent(y), r: 5 }),
    x < LAST_LABEL_X
      ? el('text', { class: 'fan-price', x: percent(x), y: percent(y), dx: 9, dy: '0.35em' }, formatWholeUsd(price))
      : el('text', { class: 'fan-price', x: percent(x), y: percent(y), dx: -9, dy: '0.35em', 'text-anchor': 'end' }, formatWholeUsd(price)),
  ];
}

function formatPoint({ x, y }: Point): string {
  return `${round(x)},${round(y)}`;
}

function percent(value: number): string {
  return `${round(value)}%`;
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
