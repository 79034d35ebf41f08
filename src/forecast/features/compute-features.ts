import { getFrameLength, type InputFrame } from '../input-frame.ts';
import { FEATURE_NAMES, type FeatureName, type FeatureTable } from './feature-table.ts';
import { findFirstChangedRow } from './first-change.ts';
import { fillFlow } from './flow.ts';
import { fillMomentum } from './momentum.ts';
import { fillRangeVariance } from './range-variance.ts';
import { computeLogs } from './rolling.ts';
import { fillTrend } from './trend.ts';
import { fillValue } from './value.ts';
import { fillVolatility } from './volatility.ts';

/** A table and its frame, both unchanged since. */
export interface ComputedFeatures {
  frame: InputFrame;
  table: FeatureTable;
}

/**
 * Features of every day; row t reads nothing later than day t (business-day series: t-1). With `earlier`, rows before the first changed
 * input are copied; the result is bit-identical.
 */
export function computeFeatures(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable {
  const from = earlier === undefined ? 0 : findFirstChangedRow(frame, earlier.frame);
  const table = allocateFeatureTable(frame, from, earlier?.table);
  const logClose = computeLogs(frame.close, from);
  fillVolatility(logClose, table, from);
  fillRangeVariance(frame, table, from);
  fillTrend(frame.close, table, from);
  fillMomentum(logClose, table, from);
  fillFlow(frame, table, from);
  fillValue(frame, table, from);
  return table;
}

function allocateFeatureTable(frame: InputFrame, from: number, earlier: FeatureTable | undefined): FeatureTable {
  const length = getFrameLength(frame);
  const columns = FEATURE_NAMES.map((name) => {
    const column = new Float64Array(length);
    if (earlier !== undefined) column.set(earlier[name].subarray(0, from));
    return [name, column];
  });
  return { firstDay: frame.firstDay, length, ...(Object.fromEntries(columns) as Record<FeatureName, Float64Array>) };
}
