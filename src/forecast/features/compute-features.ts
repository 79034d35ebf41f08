import { getFrameLength, type InputFrame } from '../input-frame.ts';
import { FEATURE_NAMES, type FeatureName, type FeatureTable } from './feature-table.ts';
import { findFirstChangedRow } from './first-change.ts';
import { fillFlow } from './flow.ts';
import { fillMomentum } from './momentum.ts';
import { computeLogs } from './rolling.ts';
import { fillTrend } from './trend.ts';
import { fillValue } from './value.ts';
import { fillVolatility } from './volatility.ts';

/** A table and the frame it was computed from, neither written to since. */
export interface ComputedFeatures {
  frame: InputFrame;
  table: FeatureTable;
}

/**
 * Features of every day of a frame; row t reads nothing later than day t (business-day series: t-1). With `earlier`, only rows from
 * the first input that differs are computed and the rest copied; the result is the same to the last bit.
 */
export function computeFeatures(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable {
  const from = earlier === undefined ? 0 : findFirstChangedRow(frame, earlier.frame);
  const table = allocateFeatureTable(frame, from, earlier?.table);
  const logClose = computeLogs(frame.close, from);
  fillVolatility(logClose, table, from);
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
