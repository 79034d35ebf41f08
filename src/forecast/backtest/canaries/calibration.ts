import { type Calibration, deviationAt, fitCalibration } from '../../fit/calibration.ts';
import { logit } from '../../fit/logistic.ts';
import type { BlockFit } from '../../fit.ts';
import { blockStart, EMBARGO_DAYS, type HorizonModel } from '../../model.ts';
import type { BacktestHistory } from '../out-of-sample.ts';
import { type Canary, type CanaryText, notRun, ran } from './canary.ts';
import { firstMiddleLast, largestDifference } from './sample.ts';
import type { HorizonBlocks } from './training-cut.ts';

const TEXT: CanaryText = {
  name: 'calibration',
  what: 'Calibrates again from nothing but what earlier blocks said of days that they had not seen, as far as their outcomes were known an embargo before the block: the calibration in use must be the same',
  unit: 'largest difference of shift and slope',
};

/** The solver stops within 1e-10 of the optimum. */
const LIMIT = 1e-9;

/** Whether calibration learns from earlier blocks' out-of-sample output only, on a few blocks of each horizon. */
export function calibrationCanary(horizons: readonly HorizonBlocks[], history: BacktestHistory): Canary {
  const differences = horizons.flatMap(({ blocks }) =>
    firstMiddleLast(blocks).map(({ model }) => differenceOf(model, fromEarlierBlocks(history, blocks, model))),
  );
  // The last block's own days need not be over; those of the middle one are.
  const [, middle] = firstMiddleLast(horizons.at(-1)?.blocks ?? []);
  if (middle === undefined) return notRun(TEXT, 'the history is too short for a block that has one before it');
  const { blocks } = horizons.at(-1)!;
  const right = fromEarlierBlocks(history, blocks, middle.model);
  return ran(TEXT, {
    limit: LIMIT,
    figure: Math.max(...differences),
    note: `${differences.length} models`,
    mutants: [
      { what: 'calibrated on the days that the model was trained on', figure: differenceOf(inSample(history, middle), right) },
      { what: "calibrated on the block's own days too", figure: differenceOf(onOwnDaysToo(history, blocks, middle), right) },
    ],
  });
}

function differenceOf(a: Calibration, b: Calibration): number {
  return largestDifference([a.calA, a.calB], [b.calA, b.calB]);
}

function fromEarlierBlocks(history: BacktestHistory, blocks: readonly BlockFit[], { block, horizonDays }: HorizonModel): Calibration {
  const to = blockStart(block) - EMBARGO_DAYS - horizonDays - history.features.firstDay;
  const earlier = blocks.filter(({ model }) => model.block < block);
  return calibrationOn(
    history,
    earlier.map(({ model, from, ...own }) => ({ model, from, to: Math.min(own.to, to) })),
  );
}

function inSample({ closes, features }: BacktestHistory, { model }: BlockFit): Calibration {
  return calibrationOn({ closes, features }, [
    { model, from: model.trainFrom - features.firstDay, to: model.trainTo + 1 - features.firstDay },
  ]);
}

function onOwnDaysToo(history: BacktestHistory, blocks: readonly BlockFit[], own: BlockFit): Calibration {
  return calibrationOn(
    history,
    blocks.filter(({ model }) => model.block <= own.model.block),
  );
}

/** What a model said of the rows from (inclusive) and to (exclusive). */
type Said = Pick<BlockFit, 'model' | 'from' | 'to'>;

/** The calibration that what was said of those rows asks for. */
function calibrationOn({ closes, features }: BacktestHistory, said: readonly Said[]): Calibration {
  const rows = said.flatMap(({ model, from, to }) =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ model, row: from + index })),
  );
  const horizonDays = said[0]?.model.horizonDays ?? 1;
  return fitCalibration({
    design: Float64Array.from(rows.flatMap(({ model, row }) => [1, deviationAt(model, features, row)])),
    offset: Float64Array.from(rows, ({ model }) => logit(model.baseRate)),
    labels: Float64Array.from(rows, ({ row }) => (closes[row + horizonDays] > closes[row] ? 1 : 0)),
    weights: new Float64Array(rows.length).fill(1 / horizonDays),
    from: 0,
    to: rows.length,
  });
}
