import { computeMeanInterval, type MeanInterval } from '../../forecast/math/mean-interval.ts';
import { brierScore, selectNonOverlapping } from '../../forecast/scoring.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { toCommittedProbabilities } from '../forecast-visibility.ts';

/** Brier score of the model minus that of the base rate, in pairs, on non-overlapping windows. */
export function computeBrierDifference(docs: readonly ForecastDoc[], horizonDays: number): MeanInterval | null {
  const revealed = docs.filter(({ reveal, values }) => reveal !== null && values !== null);
  const differences = selectNonOverlapping(revealed, horizonDays).map(({ values, resolution }) => {
    const rose = resolution?.actualDirection === 'UP';
    return brierScore(toCommittedProbabilities(values!).pUp, rose) - brierScore(values!.climatology, rose);
  });
  const interval = computeMeanInterval(differences);
  return interval === null ? null : clampDifference(interval);
}

/** With few pairs the interval exceeds the range of a difference. */
function clampDifference({ n, mean, low, high }: MeanInterval): MeanInterval {
  return { n, mean, low: low === null ? null : Math.max(-1, low), high: high === null ? null : Math.min(1, high) };
}
