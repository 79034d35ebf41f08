import { OracleError } from '../errors.ts';
import type { Day } from './day.ts';
import { probabilityAtMost, type QuantileGrid, toQuantileGrid } from './distribution.ts';
import { findFirstChangedRow } from './features.ts';
import { type FeatureTable, getFrameLength, getOrInsert, type InputFrame } from './inputs.ts';
import { formatPercent, interpolateQuantile, round } from './math.ts';
import { getBlockIndex, HORIZONS, type HorizonDays } from './model.ts';
import { type DistributionFit, fitWidths, type ModelName, type ModelVersion, m1 } from './models.ts';

/** How wide a forecast is among its own last two years: the narrowest third, the middle one, the widest one. */
export const MOVE_SIZES = ['CALM', 'USUAL', 'WILD'] as const;
export type MoveSize = (typeof MOVE_SIZES)[number];

/** The version whose widths the size of the move is of, whichever version is champion. */
export const MOVE_MODEL: ModelVersion & { name: ModelName } = m1;
/** Earlier days whose widths a day's is compared with. */
export const MOVE_REFERENCE_DAYS = 730;

/**
 * The size of the move of one day and horizon. It is of the distribution less its median, so that P(up), which only shifts the quantiles,
 * is in none of its members, and all of them are public at once.
 */
export interface MoveForecast {
  /** Fit whose distribution it is of. */
  modelVersion: string;
  moveSize: MoveSize;
  /** P(|log return - its median| > `bigMove`), 6 decimals. */
  pBig: number;
  /** Log return beyond which a move is big, either way. */
  bigMove: number;
  /** q90 less q10 of the log return; 8 decimals like its limits, from which the size follows. */
  width80: number;
  /** q95 less q05: half of it is the move that one end in ten is beyond, either way. */
  width90: number;
  /** CALM at or below it: the quantile 1/3 (type 7) of the widths of the last 730 days. */
  calmUpTo: number;
  /** WILD at or above it: the quantile 2/3. */
  wildFrom: number;
}

export type MoveFit = DistributionFit & { modelVersion: string };

export interface MoveHistory {
  frame: InputFrame;
  features: FeatureTable;
}

/** A fall by this share is big, and a rise of the same log size. */
export function getBigMoveShare(horizonDays: number): number {
  return horizonDays === 1 ? 0.03 : 0.05;
}

/** The log return of that share, above 0. */
export function getBigMove(horizonDays: number): number {
  return -Math.log(1 - getBigMoveShare(horizonDays));
}

/** E.g. `USUAL; P(move beyond 5 %) 47 %`; null without a width. @param horizon such as `7d` */
export function formatMove({
  horizon,
  moveSize,
  pBig,
}: {
  horizon: string;
  moveSize: MoveSize | null;
  pBig: number | null;
}): string | null {
  if (moveSize === null || pBig === null) return null;
  return `${moveSize}; P(move beyond ${100 * getBigMoveShare(Number.parseInt(horizon, 10))} %) ${formatPercent(pBig, 0)}`;
}

const MEDIAN = 99;
const [Q05, Q10, Q90, Q95] = [9, 19, 179, 189];

/** P(|log return - median| > `bigMove`) under 199 quantiles; exact to 1e-5 for committed ones, which are rounded to millionths. */
export function computeBigMoveProbability(grid: QuantileGrid, bigMove: number): number {
  return computeTailProbability(
    Float64Array.from(grid, (value) => value - grid[MEDIAN]),
    bigMove,
  );
}

/** P(|log return| > `bigMove`) under 199 quantiles. */
export function computeTailProbability(grid: QuantileGrid, bigMove: number): number {
  return probabilityAtMost(grid, -bigMove) + 1 - probabilityAtMost(grid, bigMove);
}

/** q90 less q10. */
export function computeWidth80(grid: QuantileGrid): number {
  return grid[Q90] - grid[Q10];
}

/** q95 less q05. */
export function computeWidth90(grid: QuantileGrid): number {
  return grid[Q95] - grid[Q05];
}

export function classifyMoveSize({ width80, calmUpTo, wildFrom }: Pick<MoveForecast, 'width80' | 'calmUpTo' | 'wildFrom'>): MoveSize {
  if (width80 <= calmUpTo) return 'CALM';
  return width80 >= wildFrom ? 'WILD' : 'USUAL';
}

/**
 * Sizes of the moves of a history. The widths of earlier days are those of the fits that served them; they are kept, and those from the
 * first changed row on are computed again, so that the next day of the same history costs one row.
 */
export class MoveForecaster {
  #frame: InputFrame | undefined;
  /** By horizon; NaN where not computed yet. */
  readonly #widths = new Map<HorizonDays, Float64Array>();
  /** By horizon and block. */
  readonly #fits = new Map<string, ReturnType<typeof fitWidths>>();

  /**
   * @param fit that of the version of `MOVE_MODEL` that forecasts the day
   * @returns null where fewer than 730 days before the day can be forecast. @throws OracleError INPUT_INVALID for a day outside the frame
   */
  forecast({ frame, features }: MoveHistory, day: Day, fit: MoveFit): MoveForecast | null {
    this.#follow(frame);
    const row = day - frame.firstDay;
    if (!(row >= 0 && row < features.length)) throw new OracleError('INPUT_INVALID', 'the day is outside the frame', { field: 'day' });
    const earlier = this.#readWidths({ frame, features }, row, fit.horizonDays);
    if (earlier === null) return null;
    const grid = buildCentredGrid(fit, features, row);
    const bigMove = getBigMove(fit.horizonDays);
    const limits = {
      width80: round(computeWidth80(grid), 8),
      width90: round(computeWidth90(grid), 8),
      calmUpTo: round(interpolateQuantile(earlier, 1 / 3), 8),
      wildFrom: round(interpolateQuantile(earlier, 2 / 3), 8),
    };
    const pBig = round(computeBigMoveProbability(grid, bigMove), 6);
    return { modelVersion: fit.modelVersion, moveSize: classifyMoveSize(limits), pBig, bigMove: round(bigMove, 8), ...limits };
  }

  /** Widths of the days before a row, ascending; null where one cannot be forecast. */
  #readWidths({ frame, features }: MoveHistory, row: number, horizonDays: HorizonDays): Float64Array | null {
    if (row < MOVE_REFERENCE_DAYS) return null;
    const widths = this.#widths.get(horizonDays)!;
    for (let at = row - MOVE_REFERENCE_DAYS; at < row; at++) {
      if (!Number.isNaN(widths[at])) continue;
      const block = getBlockIndex(frame.firstDay + at);
      const fit = getOrInsert(this.#fits, `${horizonDays} ${block}`, () =>
        fitWidths({ closes: frame.close, features }, block, horizonDays),
      );
      if (fit === null) return null;
      widths[at] = computeWidth80(buildCentredGrid(fit, features, at));
    }
    return widths.slice(row - MOVE_REFERENCE_DAYS, row).sort();
  }

  /** Drops what depends on rows that differ from those of the last frame. */
  #follow(frame: InputFrame): void {
    if (frame === this.#frame) return;
    const from = this.#frame === undefined ? 0 : findFirstChangedRow(frame, this.#frame);
    for (const horizonDays of HORIZONS) {
      const widths = new Float64Array(getFrameLength(frame)).fill(Number.NaN);
      widths.set((this.#widths.get(horizonDays) ?? widths).subarray(0, from));
      this.#widths.set(horizonDays, widths);
    }
    for (const [key, fit] of this.#fits) if (fit === null || fit.readTo > from) this.#fits.delete(key);
    this.#frame = frame;
  }
}

/** At P(up) of one half: the quantiles less their median are the same at any other. */
function buildCentredGrid(fit: DistributionFit, features: FeatureTable, row: number): Float64Array {
  return toQuantileGrid(MOVE_MODEL.buildDistribution(fit, { features, row, pUp: 0.5 }));
}
