import { type Calibration, computeDeviation, fitCalibration } from '../../fit/calibration.ts';
import { logit } from '../../fit/logistic.ts';
import type { BlockFit } from '../../fit/walk-forward.ts';
import { EMBARGO_DAYS, getBlockStart, type HorizonModel } from '../../model.ts';
import type { BacktestHistory } from '../out-of-sample.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';
import { maxAbsoluteDifference, pickFirstMiddleLast } from './sample.ts';
import type { HorizonBlocks } from './training-cut.ts';

const TEXT: CanaryDescription = {
  name: 'calibration',
  what: "Calibrates again on earlier blocks' out-of-sample output alone, with outcomes known an embargo before the block: the calibration must be the same",
  unit: 'largest difference of shift and slope',
};

/** The solver stops within 1e-10 of the optimum. */
const MAX_DIFFERENCE = 1e-9;

/** Checks on a few blocks of each horizon that calibration reads only earlier blocks' out-of-sample output. */
export function runCalibrationCanary(horizons: readonly HorizonBlocks[], history: BacktestHistory): CanaryRun {
  const differences = horizons.flatMap(({ blocks }) =>
    pickFirstMiddleLast(blocks).map(({ model }) => calibrationDifference(model, recalibrateOnEarlierBlocks(history, blocks, model))),
  );
  // The outcomes of the last block may be unknown; those of the middle one are known.
  const [, middle] = pickFirstMiddleLast(horizons.at(-1)?.blocks ?? []);
  if (middle === undefined) return skippedCanary(TEXT, 'the history is too short for a block that has one before it');
  const { blocks } = horizons.at(-1)!;
  const right = recalibrateOnEarlierBlocks(history, blocks, middle.model);
  return completedCanary(TEXT, {
    limit: MAX_DIFFERENCE,
    figure: Math.max(...differences),
    note: `${differences.length} models`,
    mutants: [
      { what: "calibrated on the model's training days", figure: calibrationDifference(calibrateInSample(history, middle), right) },
      {
        what: "calibrated on the block's own days too",
        figure: calibrationDifference(calibrateIncludingOwnDays(history, blocks, middle), right),
      },
    ],
  });
}

function calibrationDifference(a: Calibration, b: Calibration): number {
  return maxAbsoluteDifference([a.calA, a.calB], [b.calA, b.calB]);
}

function recalibrateOnEarlierBlocks(history: BacktestHistory, blocks: readonly BlockFit[], { block, horizonDays }: HorizonModel) {
  const to = getBlockStart(block) - EMBARGO_DAYS - horizonDays - history.features.firstDay;
  const earlier = blocks.filter(({ model }) => model.block < block).map((own) => ({ ...own, to: Math.min(own.to, to) }));
  return calibrateOn(history, earlier);
}

function calibrateInSample(history: BacktestHistory, { model }: BlockFit): Calibration {
  const { firstDay } = history.features;
  return calibrateOn(history, [{ model, from: model.trainFrom - firstDay, to: model.trainTo + 1 - firstDay }]);
}

function calibrateIncludingOwnDays(history: BacktestHistory, blocks: readonly BlockFit[], own: BlockFit): Calibration {
  const known = blocks.filter(({ model }) => model.block <= own.model.block);
  return calibrateOn(history, known);
}

/** Rows from (inclusive) to (exclusive) as forecast by a model. */
type BlockRows = Pick<BlockFit, 'model' | 'from' | 'to'>;

/** The calibration fitted to the models' forecasts of those rows. */
function calibrateOn({ closes, features }: BacktestHistory, blockRows: readonly BlockRows[]): Calibration {
  const rows = blockRows.flatMap(({ model, from, to }) =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ model, row: from + index })),
  );
  const horizonDays = blockRows[0]?.model.horizonDays ?? 1;
  return fitCalibration({
    deviations: Float64Array.from(rows, ({ model, row }) => computeDeviation(model, features, row)),
    offset: Float64Array.from(rows, ({ model }) => logit(model.baseRate)),
    labels: Float64Array.from(rows, ({ row }) => (closes[row + horizonDays] > closes[row] ? 1 : 0)),
    weights: new Float64Array(rows.length).fill(1 / horizonDays),
    from: 0,
    to: rows.length,
  });
}
