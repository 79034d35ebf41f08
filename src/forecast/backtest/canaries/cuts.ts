import type { ComputedFeatures } from '../../features/compute-features.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { type InputFrame, sliceFrame } from '../../input-frame.ts';
import { classifyRegimes, type Regime } from '../../regime/regime.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import type { HorizonBlocks } from './training-cut.ts';

export interface KnownHistory {
  features: FeatureTable;
  regimes: readonly Regime[];
}

export interface SampledDay {
  fold: Fold;
  day: OutOfSampleDay;
  fitted: number;
}

/** A few days of each fold, and the histories that were known on them. */
export interface ForecastCuts {
  whole: KnownHistory;
  /** The longest horizon. */
  aheadDays: number;
  sample: SampledDay[];
  rows: number[];
  /** By row: the history that ends with its day. */
  cuts: Map<number, KnownHistory>;
}

export function cutForecastDays(
  walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[],
  { frame, features }: { frame: InputFrame; features: FeatureTable },
  { features: compute }: Pick<Pipeline, 'features'>,
): ForecastCuts {
  const whole = { features, regimes: classifyRegimes(features) };
  const aheadDays = Math.max(...walks.map(({ horizonDays }) => horizonDays));
  const sample = walks.flatMap(({ folds, blocks }) => folds.flatMap((fold) => sampleFold(fold, { blocks, whole, aheadDays })));
  const rows = [...new Set(sample.map(({ day }) => day.row))].sort((a, b) => a - b);
  return { whole, aheadDays, sample, rows, cuts: computeCuts(rows, frame, compute) };
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
export function hasRegimeChangeAfter(row: number, regimes: readonly Regime[], aheadDays: number): boolean {
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
