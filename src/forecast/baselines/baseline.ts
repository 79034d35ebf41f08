import { OracleError } from '../../platform/errors.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import { getTrainingEnd, type HorizonDays } from '../model.ts';

/** Closes and features of the same days. */
export interface BaselineHistory {
  closes: Float64Array;
  features: Pick<FeatureTable, 'firstDay' | 'v94'>;
}

/** The 199 quantiles of a row's h-day log return; reads nothing after the row. */
export type BaselineForecast = (row: number) => Float64Array;

export interface Baseline<Name extends string = string> {
  name: Name;
  title: string;
  /** What it assumes, in a sentence. */
  method: string;
  /**
   * Fits the block's parameters, with the purge and embargo of the model, for forecasts from any history that has the same training days.
   * @throws OracleError INPUT_INVALID without usable returns
   */
  fitBlock(history: BaselineHistory, block: number, horizonDays: HorizonDays): (history: BaselineHistory) => BaselineForecast;
  /** Forecasts of the history that the parameters are fitted to. */
  fit(history: BaselineHistory, block: number, horizonDays: HorizonDays): BaselineForecast;
}

export function defineBaseline<Name extends string>(baseline: Omit<Baseline<Name>, 'fit'>): Baseline<Name> {
  return { ...baseline, fit: (history, block, horizonDays) => baseline.fitBlock(history, block, horizonDays)(history) };
}

/** First row that the parameters of a block may not read. */
export function getTrainingEndRow({ features }: BaselineHistory, block: number, horizonDays: HorizonDays): number {
  return getTrainingEnd(block, horizonDays) - features.firstDay;
}

export function requireRow({ closes }: Pick<BaselineHistory, 'closes'>, row: number): void {
  if (row >= 0 && row < closes.length) return;
  throw new OracleError('INPUT_INVALID', `row ${row} is outside a history of ${closes.length} days`, { field: 'row' });
}
