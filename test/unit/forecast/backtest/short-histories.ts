import type { BacktestHistory } from '../../../../src/forecast/backtest/out-of-sample.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { type InputFrame, sliceFrame } from '../../../../src/forecast/inputs.ts';

/** The first so many days of a history. */
export function historyOf(frame: InputFrame, rows = frame.close.length): BacktestHistory {
  const cut = sliceFrame(frame, frame.firstDay + rows - 1);
  return { closes: cut.close, features: computeFeatures(cut) };
}

/** Lengths of a synthetic history that give no fold: a fraction of a year, before the first block, just before its outcomes are known. */
export const LENGTHS_WITHOUT_FOLDS = [40, 209, 700, 1180];
