import type { FeatureTable } from '../../features/feature-table.ts';
import { classifyRegimes } from '../../regime/regime.ts';
import { toSignal } from '../../signal.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';
import type { DecisionThresholds } from './thresholds.ts';

export interface CallCount {
  calls: number;
  hits: number;
}

/** Counts the calls of each list of days under other thresholds; probabilities do not depend on thresholds. */
export function countCallsUnder(
  { limits, thetas }: DecisionThresholds,
  features: FeatureTable,
  lists: readonly (readonly OutOfSampleDay[])[],
): CallCount[] {
  const regimes = classifyRegimes(features, limits);
  return lists.map((days) => {
    const count = { calls: 0, hits: 0 };
    for (const { row, pUp, rose } of days) {
      const signal = toSignal(pUp, thetas[regimes[row]]);
      if (signal === 'HOLD') continue;
      count.calls++;
      if ((signal === 'BUY') === rose) count.hits++;
    }
    return count;
  });
}

/** Change of accuracy in percentage points; null where either has no call. */
export function computeAccuracyChange(base: CallCount, other: CallCount): number | null {
  return base.calls === 0 || other.calls === 0 ? null : 100 * (other.hits / other.calls - base.hits / base.calls);
}
