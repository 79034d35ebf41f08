import { OracleError } from '../../platform/errors.ts';
import { formatDay } from '../day.ts';
import { computeSortedQuantiles } from '../distribution.ts';
import { getOrInsert } from '../get-or-insert.ts';
import {
  BLOCK_DAYS,
  FIRST_BLOCK,
  formatModelVersion,
  getBlockIndex,
  getBlockStart,
  getTrainingEnd,
  type HorizonModel,
  RESIDUAL_DAYS,
} from '../model.ts';
import { fitModelVersion } from '../models/registry.ts';
import { computeCalibratedLogit, computeDeviation, fitCalibration } from './calibration.ts';
import { fitCoefficients } from './coefficients.ts';
import { logit, sigmoid } from './logistic.ts';
import { buildTrainingData, getTrainingStart, type TrainingData, type TrainingSource } from './training-data.ts';

/** Minimum training days of a block, about two years. */
export const MIN_TRAINING_DAYS = 730;

/** A block's fit and its out-of-sample forecasts of the block. */
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
  const data = buildTrainingData(source);
  const lastBlock = source.lastBlock ?? getBlockIndex(data.features.firstDay + data.features.length - 1);
  requireTrainingHistory(data, lastBlock);
  let block = FIRST_BLOCK;
  while (countTrainingDays(data, block) < MIN_TRAINING_DAYS) block++;
  const output = createOutOfSampleBuffer(data, block);
  const fits: BlockFit[] = [];
  for (; block <= lastBlock; block++) fits.push(fitBlock(data, block, output));
  return fits;
}

/** The model of one block; reads nothing after its training days. @throws OracleError as `walkForward` */
export function fitModel({ block, ...source }: TrainingSource & { block: number }): HorizonModel {
  return walkForward({ ...source, lastBlock: block }).at(-1)!.model;
}

/** Out-of-sample output of earlier blocks by row: log odds of the base rate at the time, and the deviation. */
type OutOfSampleBuffer = ReturnType<typeof createOutOfSampleBuffer>;

function createOutOfSampleBuffer({ features: { firstDay, length } }: TrainingData, firstBlock: number) {
  const from = getBlockStart(firstBlock) - firstDay;
  return { from, offset: new Float64Array(length), deviations: new Float64Array(length) };
}

function fitBlock(data: TrainingData, block: number, output: OutOfSampleBuffer): BlockFit {
  const { features, version, horizonDays, rules, labels, weights, firstRow, residuals, residualQuantiles, settings } = data;
  const end = getTrainingEnd(block, horizonDays, rules) - features.firstDay;
  const start = getTrainingStart(data, end);
  const direction: HorizonModel = {
    modelVersion: formatModelVersion(block),
    block,
    horizonDays,
    trainFrom: features.firstDay + start,
    trainTo: features.firstDay + end - 1,
    nTrain: end - start,
    ...fitCoefficients(data, end),
    ...(settings.calibration ?? fitCalibration({ ...output, labels, weights, to: end })),
    residualQuantiles: getOrInsert(residualQuantiles, end, () =>
      computeSortedQuantiles(residuals.valuesBetween(Math.max(firstRow, end - RESIDUAL_DAYS), end)),
    ),
  };
  const model = fitModelVersion(version, direction, data);
  return { model, ...forecastBlock(data, model, output) };
}

/** Forecasts the rows of the model's block and writes them to `output`. */
function forecastBlock({ features }: TrainingData, model: HorizonModel, output: OutOfSampleBuffer) {
  const from = Math.min(getBlockStart(model.block) - features.firstDay, features.length);
  const to = Math.min(from + BLOCK_DAYS, features.length);
  const pUp = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const deviation = computeDeviation(model, features, row);
    output.offset[row] = logit(model.baseRate);
    output.deviations[row] = deviation;
    pUp[row - from] = sigmoid(computeCalibratedLogit(model, deviation));
  }
  return { from, to, pUp };
}

/** Training days of a block; can be negative. */
function countTrainingDays({ features, firstRow, horizonDays, rules }: TrainingData, block: number): number {
  return getTrainingEnd(block, horizonDays, rules) - features.firstDay - firstRow;
}

function requireTrainingHistory(data: TrainingData, block: number): void {
  const { features, firstRow, horizonDays, rules } = data;
  const first = formatDay(features.firstDay);
  const days = Math.max(0, countTrainingDays(data, block));
  if (days < MIN_TRAINING_DAYS) {
    const given = `a history from ${first} gives ${days}, from ${formatDay(features.firstDay + firstRow)} on`;
    throw historyTooShort(block, `needs ${MIN_TRAINING_DAYS} training days; ${given}`, 'Load prices from an earlier date.');
  }
  const known = features.firstDay + features.length - 1;
  const needed = getTrainingEnd(block, horizonDays, rules) + horizonDays - 1;
  if (known >= needed) return;
  const problem = `trains on closes until ${formatDay(needed)}; the history ends on ${formatDay(known)}`;
  throw historyTooShort(block, problem, 'Load prices until a later date.');
}

function historyTooShort(block: number, problem: string, suggestedAction: string): OracleError {
  return new OracleError('HISTORY_TOO_SHORT', `${formatModelVersion(block)} ${problem}`, { field: 'close', suggestedAction });
}
