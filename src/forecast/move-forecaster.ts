import { OracleError, orElse } from '../errors.ts';
import type { Day } from './day.ts';
import { toQuantileGrid } from './distribution.ts';
import { findFirstChangedRow } from './features.ts';
import { type FeatureTable, getFrameLength, getOrInsert, type InputFrame } from './inputs.ts';
import { interpolateQuantile, round } from './math.ts';
import { getBlockIndex, HORIZONS, type HorizonDays } from './model.ts';
import { type DistributionFit, fitWidths, type ModelName, type ModelVersion, m1 } from './models.ts';
import { classifyMoveSize, computeBigMoveProbability, computeWidth80, computeWidth90, getBigMove, type MoveForecast } from './move.ts';

/** The version whose widths the size of the move is of, whichever version is champion. */
export const MOVE_MODEL: ModelVersion & { name: ModelName } = m1;
/** Earlier days whose widths a day's is compared with. */
export const MOVE_REFERENCE_DAYS = 730;

export type MoveFit = DistributionFit & { modelVersion: string };

export interface MoveHistory {
  frame: InputFrame;
  features: FeatureTable;
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
  readonly #fits = new Map<string, ReturnType<typeof tryFit>>();

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
      const fit = getOrInsert(this.#fits, `${horizonDays} ${block}`, () => tryFit({ closes: frame.close, features }, block, horizonDays));
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

/** Null for constant prices too: a day without a size is still forecast. */
function tryFit(...source: Parameters<typeof fitWidths>): ReturnType<typeof fitWidths> {
  try {
    return fitWidths(...source);
  } catch (error) {
    return orElse<null>('INPUT_INVALID', null)(error);
  }
}

/** At P(up) of one half: the quantiles less their median are the same at any other. */
function buildCentredGrid(fit: DistributionFit, features: FeatureTable, row: number): Float64Array {
  return toQuantileGrid(MOVE_MODEL.buildDistribution(fit, { features, row, pUp: 0.5 }));
}
