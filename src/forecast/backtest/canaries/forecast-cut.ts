import { cdf, crps } from '../../distribution.ts';
import type { Pipeline } from '../pipeline.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';
import { type ForecastCuts, hasRegimeChangeAfter, type KnownHistory, type SampledDay } from './cuts.ts';
import { FORECAST_MUTANTS } from './forecast-mutants.ts';

const TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, recomputes features and regime, and forecasts with the fold's model: P(up), regime, signal, distribution and scores must be bit-identical to the fold",
  unit: 'values that differ',
};

export const NO_FOLD = 'there is no complete fold';

/** Checks on a few days of each fold that forecasts and scores read nothing later than the day. */
export function runForecastCutCanary(
  { whole, aheadDays, sample, rows, cuts }: ForecastCuts,
  { forecast }: Pick<Pipeline, 'forecast'>,
): CanaryRun {
  if (sample.length === 0) return skippedCanary(TEXT, NO_FOLD);
  const longest = sample.filter(({ fold }) => fold.model.horizonDays === aheadDays);
  const anyChange = longest.some(({ day }) => hasRegimeChangeAfter(day.row, whole.regimes, aheadDays));
  const differences = (days: readonly SampledDay[], valuesOf: (one: SampledDay) => ComparedValues, byCut: Pipeline['forecast']) =>
    days.reduce((sum, one) => sum + countDifferences(valuesOf(one), recomputeValues(one, cuts.get(one.day.row)!, byCut)), 0);
  return completedCanary(TEXT, {
    limit: 0,
    figure: differences(sample, foldValues, forecast),
    note: `${sample.length} forecasts of ${rows.length} days`,
    mutants: FORECAST_MUTANTS.filter(({ needsChange }) => anyChange || !needsChange).map(({ what, broken }) => ({
      what,
      figure: differences(longest, (one) => recomputeValues(one, whole, broken(forecast)), broken(forecast)),
    })),
  });
}

type ComparedValues = readonly (number | string)[];

function foldValues({ day: { pUp, regime, signal, predictive, distribution }, fitted }: SampledDay): ComparedValues {
  return [pUp, fitted, regime, signal, predictive.scale, predictive.shift, distribution.crps, distribution.pit];
}

/** The same values recomputed from a history; empty where the forecast needs later rows. */
function recomputeValues(
  { fold: { model }, day: { row, realised } }: SampledDay,
  known: KnownHistory,
  forecast: Pipeline['forecast'],
): ComparedValues {
  try {
    const { pUp, regime, signal, distribution } = forecast({ model, ...known, row });
    return [pUp, pUp, regime, signal, distribution.scale, distribution.shift, crps(distribution, realised), cdf(distribution, realised)];
  } catch {
    return [];
  }
}

function countDifferences(whole: ComparedValues, cut: ComparedValues): number {
  return whole.filter((value, index) => !Object.is(value, cut[index])).length;
}
