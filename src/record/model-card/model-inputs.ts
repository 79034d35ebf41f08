import type { MODEL_INPUTS } from '../../forecast/model.ts';
import { MODEL_SERIES } from '../../market/inputs/day-inputs.ts';
import { SERIES, type SeriesId } from '../../market/series/series.ts';

export type ModelScore = (typeof MODEL_INPUTS)[number];

/** Scores that each series enters, in the order of `MODEL_INPUTS`. */
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

export const MODEL_INPUT_SERIES = MODEL_SERIES.map((series) => {
  const { title, unit, lagDays, staleDays } = SERIES[series];
  return { series, title, unit, lagDays, staleDays, enters: SCORES_BY_SERIES[series] ?? [] };
});
