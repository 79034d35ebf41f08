import { type PriceDay, toPriceDays } from '../../record/record-rows.ts';
import type { ApiResponses, ScorecardRow } from '../../state/responses.ts';
import { parseDayNumber } from '../chart.ts';

interface PriceRange {
  low: number;
  high: number;
}

/** End of a horizon of today's fan. */
export interface FanEnd {
  day: number;
  horizon: string;
  range50: PriceRange;
  range80: PriceRange;
}

/** Expected ranges of today's forecasts, without direction; `ends` ascending. */
export interface Fan {
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
