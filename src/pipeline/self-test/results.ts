import type { ComputationName, Computed, Report } from './computations.ts';
import type { ComputedTest } from './computed-tests.ts';

const DEFAULT_HORIZON_DAYS = 7;

/** What is stored of a computed test, and told under the same names: its report, with that of overfitting beside the walk-forward. */
export interface ComputedResults {
  'walk-forward': { report: Report<'walk-forward'>; overfitting: Report<'overfitting'> };
  contamination: { report: Report<'contamination'> };
  stability: { report: Report<'stability'> };
}

const RESULTS: { [Test in ComputedTest]: (computed: readonly Computed[]) => ComputedResults[Test] } = {
  'walk-forward': (computed) => ({ report: reportOf(computed, 'walk-forward'), overfitting: reportOf(computed, 'overfitting') }),
  contamination: (computed) => ({ report: reportOf(computed, 'contamination') }),
  stability: (computed) => ({ report: reportOf(computed, 'stability') }),
};

export function resultOf(test: ComputedTest, computed: readonly Computed[]): object {
  return RESULTS[test](computed);
}

/** What a test found, in a line. Of the walk-forward also how many folds there are, and what the default horizon amounts to. */
export function verdictOf(test: ComputedTest, computed: readonly Computed[]): string {
  const { verdict } = reportOf(computed, test);
  if (test !== 'walk-forward') return verdict;
  const { folds, expectedFolds, horizons } = reportOf(computed, 'walk-forward');
  const { horizon, verdict: amount } = horizons.find(({ horizonDays }) => horizonDays === DEFAULT_HORIZON_DAYS)!;
  return `${folds} of ${expectedFolds} folds; ${verdict}; ${horizon}: ${amount}`;
}

function reportOf<Name extends ComputationName>(computed: readonly Computed[], name: Name): Report<Name> {
  return computed.find((one) => one.name === name)!.report as Report<Name>;
}
