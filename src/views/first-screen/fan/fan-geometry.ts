import type { PriceData, RangeData } from '../first-screen-data.ts';

/** The fan in a box of 100 by 100: time to the right from the signal to the end of the longest window, price upwards. */
export interface FanGeometry {
  /** Widest first, as they are drawn. */
  bands: readonly { share: number; points: readonly Point[]; upper: number }[];
  start: Point;
  ends: readonly { horizon: string; x: number }[];
  now: Point | null;
  ticks: readonly { price: number; y: number }[];
  toY(price: number): number;
}

export interface Point {
  x: number;
  y: number;
}

export const FAN_SIZE = 100;
/** Above the highest and below the lowest mark, as a share of the height. */
const MARGIN_SHARE = 0.06;
/** Ticks near the price at signal time would lie on the fan. */
const MIN_TICK_DISTANCE = 14;
/** First digits of the distance between two ticks. */
const STEPS = [1, 2, 2.5, 5, 10];
const MAX_TICKS = 5;

/** @param marks further prices to make room for. Null without ranges. */
export function computeFan(range: RangeData, price: PriceData | null, marks: readonly number[] = []): FanGeometry | null {
  const horizons = range.horizons ?? [];
  const last = horizons.at(-1);
  if (last === undefined) return null;
  const startMs = Date.parse(range.timestamp);
  const spanMs = Date.parse(last.resolvesAt) - startMs;
  const toX = (time: string) => clamp((FAN_SIZE * (Date.parse(time) - startMs)) / spanMs);
  const current = findCurrent(price, last.resolvesAt);
  const bounds = horizons.flatMap(({ ranges }) => ranges.flatMap(({ low, high }) => [low, high]));
  const toY = createPriceScale([...bounds, range.btcPrice, ...(current === null ? [] : [current.price]), ...marks]);
  const start = { x: 0, y: toY(range.btcPrice) };
  const shares = last.ranges.map(({ share }) => share).toSorted((a, b) => b - a);
  return {
    bands: shares.map((share) => {
      const ends = horizons.flatMap(({ ranges, resolvesAt }) => {
        const found = ranges.find((one) => one.share === share);
        return found === undefined ? [] : [{ x: toX(resolvesAt), top: toY(found.high), bottom: toY(found.low) }];
      });
      const above = ends.map(({ x, top }) => ({ x, y: top }));
      const below = ends.map(({ x, bottom }) => ({ x, y: bottom })).toReversed();
      return { share, points: [start, ...above, ...below], upper: above.at(-1)?.y ?? start.y };
    }),
    start,
    ends: horizons.map(({ horizon, resolvesAt }) => ({ horizon, x: toX(resolvesAt) })),
    now: current === null ? null : { x: toX(current.observedAt), y: toY(current.price) },
    ticks: listTicks(Math.min(...bounds), Math.max(...bounds))
      .map((tick) => ({ price: tick, y: toY(tick) }))
      .filter(({ y }) => Math.abs(y - start.y) > MIN_TICK_DISTANCE),
    toY,
  };
}

/** A price of after the last window, as during a replay, is not on the fan. */
function findCurrent(price: PriceData | null, end: string): { price: number; observedAt: string } | null {
  if (price === null || price.price === null || price.observedAt === null) return null;
  return Date.parse(price.observedAt) > Date.parse(end) ? null : { price: price.price, observedAt: price.observedAt };
}

function createPriceScale(prices: readonly number[]): (price: number) => number {
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const room = (most - least || 1) * MARGIN_SHARE;
  const [bottom, top] = [least - room, most + room];
  return (price) => clamp((FAN_SIZE * (top - price)) / (top - bottom));
}

function listTicks(least: number, most: number): number[] {
  const rough = (most - least || 1) / MAX_TICKS;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((digit) => digit * unit >= rough) ?? 10) * unit;
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, index) => (first + index) * step);
}

function clamp(value: number): number {
  return Math.min(FAN_SIZE, Math.max(0, value));
}
