import { OracleError } from '../errors.ts';
import { formatDay } from './day.ts';
import { residualQuantilesOf } from './distribution.ts';
import { calibratedLogit, deviationAt, fitCalibration } from './fit/calibration.ts';
import { fitCoefficients } from './fit/coefficients.ts';
import { logit, sigmoid } from './fit/logistic.ts';
import { type TrainingData, type TrainingSource, trainingDataOf, trainingFrom } from './fit/training-data.ts';
import { BLOCK_DAYS, blockIndexOf, blockStart, FIRST_BLOCK, type HorizonModel, modelVersionOf, trainingEnd } from './model.ts';

/** Training days, about two years, below which a block is not fitted. */
export const MIN_TRAINING_DAYS = 730;

/** Days at the end of training that the residual distribution is taken from. */
export const RESIDUAL_DAYS = 1461;

/** A block's fit and what it says, out of sample, about the block's own days. */
export interface BlockFit {
  model: HorizonModel;
  /** Rows of the feature table in the block: from (inclusive) and to (exclusive). */
  from: number;
  to: number;
  /** P(close is higher `horizonDays` later) of those rows. */
  pUp: Float64Array;
}

/**
 * Fits every block from the first with enough training days (at the earliest `FIRST_BLOCK`) to `lastBlock`, by default that of the
 * last row; each is calibrated on the out-of-sample output of those before it.
 * @throws OracleError HISTORY_TOO_SHORT when `lastBlock` has fewer than `MIN_TRAINING_DAYS` training days or the closes end before
 * its last training label; INPUT_INVALID when closes and features differ in length or prices never move.
 */
export function walkForward(source: TrainingSource & { lastBlock?: number }): BlockFit[] {
  const data = trainingDataOf(source);
  const lastBlock = source.lastBlock ?? blockIndexOf(data.features.firstDay + data.features.length - 1);
  requireTraining(data, lastBlock);
  let block = FIRST_BLOCK;
  while (trainingDaysOf(data, block) < MIN_TRAINING_DAYS) block++;
  const output = emptyOutput(data, block);
  const fits: BlockFit[] = [];
  for (; block <= lastBlock; block++) fits.push(fitBlock(data, block, output));
  return fits;
}

/**
 * The model of one block. `closes` and `features` may reach into or beyond the block: nothing after its training days is read.
 * @throws OracleError as `walkForward`.
 */
export function fitModel({ block, ...source }: TrainingSource & { block: number }): HorizonModel {
  return walkForward({ ...source, lastBlock: block }).at(-1)!.model;
}

/** What earlier blocks said about days they had not seen, by row of the feature table. */
interface OutOfSample {
  /** First row any block spoke about. */
  from: number;
  /** Log odds of the base rate at the time. */
  offset: Float64Array;
  /** 1 and the deviation of each row. */
  design: Float64Array;
}

function emptyOutput({ features }: TrainingData, firstBlock: number): OutOfSample {
  return {
    from: blockStart(firstBlock) - features.firstDay,
    offset: new Float64Array(features.length),
    design: new Float64Array(2 * features.length).fill(1),
  };
}

function fitBlock(data: TrainingData, block: number, output: OutOfSample): BlockFit {
  const { features, horizonDays, rules, labels, weights, firstRow, residuals, settings } = data;
  const end = trainingEnd(block, horizonDays, rules) - features.firstDay;
  const start = trainingFrom(data, end);
  const model: HorizonModel = {
    modelVersion: modelVersionOf(block),
    block,
    horizonDays,
    trainFrom: features.firstDay + start,
    trainTo: features.firstDay + end - 1,
    nTrain: end - start,
    ...fitCoefficients(data, end),
    ...(settings.calibration ?? fitCalibration({ ...output, labels, weights, to: end })),
    residualQuantiles: residualQuantilesOf(residuals.subarray(Math.max(firstRow, end - RESIDUAL_DAYS), end)),
  };
  return { model, ...forecastBlock(data, model, output) };
}

/** Forecasts the rows of the model's block and adds them to `output`. */
function forecastBlock({ features }: TrainingData, model: HorizonModel, output: OutOfSample) {
  const from = Math.min(blockStart(model.block) - features.firstDay, features.length);
  const to = Math.min(from + BLOCK_DAYS, features.length);
  const pUp = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const deviation = deviationAt(model, features, row);
    output.offset[row] = logit(model.baseRate);
    output.design[2 * row + 1] = deviation;
    pUp[row - from] = sigmoid(calibratedLogit(model, deviation));
  }
  return { from, to, pUp };
}

/** Training days of a block, if the history reaches that far; can be negative. */
function trainingDaysOf({ features, firstRow, horizonDays, rules }: TrainingData, block: number): number {
  return trainingEnd(block, horizonDays, rules) - features.firstDay - firstRow;
}

function requireTraining(data: TrainingData, block: number): void {
  const { features, firstRow, horizonDays, rules } = data;
  const first = formatDay(features.firstDay);
  const days = Math.max(0, trainingDaysOf(data, block));
  if (days < MIN_TRAINING_DAYS) {
    throw new OracleError(
      'HISTORY_TOO_SHORT',
      `${modelVersionOf(block)} needs ${MIN_TRAINING_DAYS} training days; a history from ${first} gives ${days}, from ${formatDay(features.firstDay + firstRow)} on`,
      { field: 'close', suggestedAction: 'Load prices from an earlier date.' },
    );
  }
  const known = features.firstDay + features.length - 1;
  const needed = trainingEnd(block, horizonDays, rules) + horizonDays - 1;
  if (known < needed) {
    throw new OracleError(
      'HISTORY_TOO_SHORT',
      `${modelVersionOf(block)} learns from closes until ${formatDay(needed)}, the history ends on ${formatDay(known)}`,
      { field: 'close', suggestedAction: 'Load prices until a later date.' },
    );
  }
}
