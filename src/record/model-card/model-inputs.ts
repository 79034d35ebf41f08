import type { MODEL_INPUTS } from '../../forecast/model.ts';
import { MODEL_SERIES } from '../../market/inputs/day-inputs.ts';
import { SERIES, type SeriesId } from '../../market/series/series.ts';

export type ModelScore = (typeof MODEL_INPUTS)[number];

/** Scores that a series enters, in the order of `MODEL_INPUTS`. */
const SCORES_BY_SERIES: Partial<Record<SeriesId, readonly ModelScore[]>> = {
  btcClose: ['trend', 'momentum', 'value', 'vol'],
  fearGreed: ['value'],
  realizedPrice: ['value'],
  takerBuyFraction: ['flow'],
  fundingRate: ['flow'],
  gold: ['value'],
  pmi: ['flow'],
  etfFlow: ['flow'],
  sp500: ['flow'],
  dxy: ['flow'],
};

/** A series that forecasts are made from. */
export interface ModelInput {
  series: SeriesId;
  title: string;
  unit: string;
  /** The forecast of a day reads values dated this many days before it, or earlier. */
  lagDays: number;
  /** A value dated longer ago than this is masked. */
  staleDays: number;
  enters: readonly ModelScore[];
}

/** Everything that forecasts are made from, the price first. */
export const MODEL_INPUT_SERIES: readonly ModelInput[] = MODEL_SERIES.map((series) => {
  const { title, unit, lagDays, staleDays } = SERIES[series];
  return { series, title, unit, lagDays, staleDays, enters: SCORES_BY_SERIES[series] ?? [] };
});
