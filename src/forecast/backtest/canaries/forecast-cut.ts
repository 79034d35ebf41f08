import { cdf, crps } from '../../distribution.ts';
import type { ComputedFeatures } from '../../features/compute-features.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { type InputFrame, sliceFrame } from '../../input-frame.ts';
import { classifyRegimes, type Regime } from '../../regime/regime.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Canary, type CanaryDescription, completedCanary, skippedCanary } from './canary.ts';
import { FORECAST_MUTANTS } from './forecast-mutants.ts';
import type { HorizonBlocks } from './training-cut.ts';

const TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, recomputes features and regime, and forecasts with the fold's model: P(up), regime, signal, distribution and scores must be bit-identical to the fold",
  unit: 'values that differ',
};

interface KnownHistory {
  features: FeatureTable;
  regimes: readonly Regime[];
}

interface SampledDay {
  fold: Fold;
  day: OutOfSampleDay;
  fitted: number;
}

/** Checks on a few days of each fold that forecasts and scores read nothing later than the day. */
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

/** First and last day, and the first before a lasting regime change, which reveals a regime read ahead; the same at every horizon. */
function sampleFoldDays({ days }: Pick<Fold, 'days'>, regimes: readonly Regime[], aheadDays: number): OutOfSampleDay[] {
  const beforeChange = days.find(({ row }) => hasRegimeChangeAfter(row, regimes, aheadDays));
  return [...new Set([days[0], ...(beforeChange === undefined ? [] : [beforeChange]), days[days.length - 1]])];
}

/** Whether the regime differs both the next day and `aheadDays` later. */
function hasRegimeChangeAfter(row: number, regimes: readonly Regime[], aheadDays: number): boolean {
  return [1, aheadDays].every((days) => row + days < regimes.length && regimes[row + days] !== regimes[row]);
}

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
