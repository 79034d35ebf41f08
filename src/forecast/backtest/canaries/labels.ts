import type { LearningRules } from '../../model.ts';
import type { BacktestHistory, OutOfSampleDay } from '../out-of-sample.ts';
import { computeAccuracyBy, computeAccuracyLimit } from './accuracy.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';

const UNIT = 'share of days right, 0 to 1';

const REPEATED_LABEL: CanaryDescription = {
  name: 'repeated-label',
  what: 'Repeats each day the newest outcome that the training rule allows: without skill unless its window is still open',
  unit: UNIT,
};

const LABEL_AVERAGE: CanaryDescription = {
  name: 'label-average',
  what: 'Predicts the majority of the newest outcomes that the training rule allows, by an exponential average with decay 0.8',
  unit: UNIT,
};

const DECAY = 0.8;
/** Missing purge: the outcome of yesterday's forecast counts as known today. */
const UNPURGED_LEAK = 'an outcome counts as known the day after its forecast, before its window is over';

interface LabelSource extends BacktestHistory {
  days: readonly OutOfSampleDay[];
  horizonDays: number;
}

/** Runs two forecasters that read only earlier outcomes: they have skill only if the purge leaks. */
export function runLabelCanaries(labels: LabelSource, rules: LearningRules): CanaryRun[] {
  return [runLabelCanary(REPEATED_LABEL, repeatLabel, labels, rules), runLabelCanary(LABEL_AVERAGE, averageLabels, labels, rules)];
}

type Forecaster = (labels: LabelSource, lastKnownRow: (row: number) => number) => (row: number) => boolean;

function runLabelCanary(text: CanaryDescription, forecaster: Forecaster, labels: LabelSource, { lastKnownDay }: LearningRules): CanaryRun {
  const { days, horizonDays, features } = labels;
  const limit = computeAccuracyLimit(days, horizonDays);
  if (limit === null) return skippedCanary(text, `${days.length} out-of-sample days are too few to distinguish a leak from luck`);
  const rightBy = (lastKnownRow: (row: number) => number) => {
    const saysUp = forecaster(labels, lastKnownRow);
    return computeAccuracyBy(days, ({ row }) => saysUp(row));
  };
  return completedCanary(text, {
    figure: rightBy((row) => lastKnownDay(features.firstDay + row, horizonDays) - features.firstDay),
    limit,
    note: `at ${horizonDays} days, on ${days.length} out-of-sample days`,
    mutants: [{ what: UNPURGED_LEAK, figure: rightBy((row) => row - 1) }],
  });
}

function repeatLabel(labels: LabelSource, lastKnownRow: (row: number) => number): (row: number) => boolean {
  return (row) => rose(labels, lastKnownRow(row));
}

function averageLabels(labels: LabelSource, lastKnownRow: (row: number) => number): (row: number) => boolean {
  const averages = new Float64Array(labels.closes.length).fill(0.5);
  for (let row = 1; row < averages.length; row++) averages[row] = DECAY * averages[row - 1] + (1 - DECAY) * (rose(labels, row) ? 1 : 0);
  return (row) => averages[lastKnownRow(row)] >= 0.5;
}

function rose({ closes, horizonDays }: LabelSource, row: number): boolean {
  return closes[row + horizonDays] > closes[row];
}
