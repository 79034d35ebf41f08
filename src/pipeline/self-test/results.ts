import type { ComputationName, ComputedReport, TimedReport } from './computations.ts';
import type { ComputedTest } from './computed-tests.ts';

const DEFAULT_HORIZON_DAYS = 7;

/** What is stored of a computed test, and told under the same names: its report, with that of overfitting beside the walk-forward. */
export interface ComputedResults {
  'walk-forward': { report: ComputedReport<'walk-forward'>; overfitting: ComputedReport<'overfitting'> };
  contamination: { report: ComputedReport<'contamination'> };
  stability: { report: ComputedReport<'stability'> };
}

const RESULT_COMPOSERS: { [Test in ComputedTest]: (computed: readonly TimedReport[]) => ComputedResults[Test] } = {
  'walk-forward': (computed) => ({ report: findReport(computed, 'walk-forward'), overfitting: findReport(computed, 'overfitting') }),
  contamination: (computed) => ({ report: findReport(computed, 'contamination') }),
  stability: (computed) => ({ report: findReport(computed, 'stability') }),
};

export function composeResult(test: ComputedTest, computed: readonly TimedReport[]): object {
  return RESULT_COMPOSERS[test](computed);
}

/** What a test found, in a line. Of the walk-forward also how many folds there are, and what the default horizon amounts to. */
export function composeVerdict(test: ComputedTest, computed: readonly TimedReport[]): string {
  const { verdict } = findReport(computed, test);
  if (test !== 'walk-forward') return verdict;
  const { folds, expectedFolds, horizons } = findReport(computed, 'walk-forward');
  const { horizon, verdict: amount } = horizons.find(({ horizonDays }) => horizonDays === DEFAULT_HORIZON_DAYS)!;
  return `${folds} of ${expectedFolds} folds; ${verdict}; ${horizon}: ${amount}`;
}

function findReport<Name extends ComputationName>(computed: readonly TimedReport[], name: Name): ComputedReport<Name> {
  return computed.find((one) => one.name === name)!.report as ComputedReport<Name>;
}
