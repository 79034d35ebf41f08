import { cdf, crps, type PredictiveDistribution } from '../../distribution.ts';
import type { ComputedFeatures } from '../../features/compute-features.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { type InputFrame, sliceFrame } from '../../input-frame.ts';
import { classifyRegimes, type Regime } from '../../regime/regime.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Canary, type CanaryDescription, completedCanary, skippedCanary } from './canary.ts';
import { FORECAST_MUTANTS } from './forecast-mutants.ts';
import { hasRegimeChangeAfter, sampleFoldDays } from './sampled-days.ts';
import type { HorizonBlocks } from './training-cut.ts';

const TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, computes its features and regime again, and has the fold's model forecast it: P(up), regime, signal, distribution and scores must be those of the fold, to the last bit",
  unit: 'values that differ',
};

/** A history, whole or as it was at the end of one of its days. */
interface KnownHistory {
  features: FeatureTable;
  regimes: readonly Regime[];
}

/** A day to look at, and its fold. */
interface SampledDay {
  fold: Fold;
  day: OutOfSampleDay;
  /** P(up) as the fit gave it out. */
  fitted: number;
}

/** Whether what is scored needs anything that was not known on its day, on a few days of each fold of each horizon. */
export function runForecastCutCanary(
  walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[],
  { frame, features }: { frame: InputFrame; features: FeatureTable },
  { features: compute, forecast }: Pipeline,
): Canary {
  const whole = { features, regimes: classifyRegimes(features) };
  const aheadDays = Math.max(...walks.map(({ horizonDays }) => horizonDays));
  const sample = walks.flatMap(({ folds, blocks }) => folds.flatMap((fold) => sampleFold(fold, { blocks, whole, aheadDays })));
  if (sample.length === 0) return skippedCanary(TEXT, 'there is no complete fold');
  const rows = [...new Set(sample.map(({ day }) => day.row))].sort((a, b) => a - b);
  const cuts = computeCuts(rows, frame, compute);
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

function sampleFold(
  fold: Fold,
  { blocks, whole, aheadDays }: { blocks: HorizonBlocks['blocks']; whole: KnownHistory; aheadDays: number },
): SampledDay[] {
  const { from, pUp } = blocks.find(({ model }) => model.block === fold.model.block)!;
  return sampleFoldDays(fold, whole.regimes, aheadDays).map((day) => ({ fold, day, fitted: pUp[day.row - from] }));
}

/** What was known at the end of each of the ascending rows. */
function computeCuts(rows: readonly number[], frame: InputFrame, compute: Pipeline['features']): Map<number, KnownHistory> {
  const cuts = new Map<number, KnownHistory>();
  let earlier: ComputedFeatures | undefined;
  for (const row of rows) {
    const cut = sliceFrame(frame, frame.firstDay + row);
    const table = compute(cut, earlier);
    cuts.set(row, { features: table, regimes: classifyRegimes(table) });
    earlier = { frame: cut, table };
  }
  return cuts;
}

type ComparedValues = readonly (number | string)[];

/** What is compared of a day as it stands in its fold. */
function foldValues({ day: { pUp, regime, signal, predictive, distribution }, fitted }: SampledDay): ComparedValues {
  return [pUp, fitted, regime, signal, ...distributionParameters(predictive), distribution.crps, distribution.pit];
}

/** The same as a history gives it; empty where it cannot be said without what lies behind it. */
function recomputeValues(
  { fold: { model }, day: { row, realised } }: SampledDay,
  known: KnownHistory,
  forecast: Pipeline['forecast'],
): ComparedValues {
  try {
    const { pUp, regime, signal, distribution } = forecast({ model, ...known, row });
    return [pUp, pUp, regime, signal, ...distributionParameters(distribution), crps(distribution, realised), cdf(distribution, realised)];
  } catch {
    return [];
  }
}

function distributionParameters({ scale, shift }: PredictiveDistribution): number[] {
  return [scale, shift];
}

function countDifferences(whole: ComparedValues, cut: ComparedValues): number {
  return whole.filter((value, index) => !Object.is(value, cut[index])).length;
}
