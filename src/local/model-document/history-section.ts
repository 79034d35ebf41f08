import { horizonAgreement } from '../../forecast/backtest/horizon-agreement.ts';
import { formatDay } from '../../forecast/day.ts';
import { computeFeatures } from '../../forecast/features.ts';
import { fitModel } from '../../forecast/fit.ts';
import { type InputFrame, lastDayOf } from '../../forecast/frame.ts';
import { blockIndexOf, HORIZONS, MODEL_INPUTS, modelVersionOf } from '../../forecast/model.ts';
import { computeReports } from '../../pipeline/self-test/computations.ts';
import { type FitCalibration, type FitCard, fitCard } from '../../record/model-card/fit.ts';
import type { History } from './histories.ts';
import { table } from './markdown.ts';
import { agreementMarkdown, contaminationMarkdown, overfittingMarkdown, stabilityMarkdown, walkForwardMarkdown } from './results.ts';

/** The fit in force on the last day of a history, and what all self-tests say of it. `real`: services forecast with such a fit today. */
export async function resultsMarkdown({ frame, pointInTime, vintages }: History, real: boolean): Promise<string> {
  const input = { frame, pointInTime: await pointInTime(), vintages };
  const told = [`From ${formatDay(frame.firstDay)} to ${formatDay(lastDayOf(frame))}.`, fitMarkdown(frame, !real)];
  for (const computed of computeReports(input, ['walk-forward', 'overfitting', 'contamination', 'stability'])) {
    if (computed.name === 'walk-forward') told.push(walkForwardMarkdown(computed.report), ...agreementOf(frame));
    else if (computed.name === 'overfitting') told.push(overfittingMarkdown(computed.report));
    else if (computed.name === 'contamination') told.push(contaminationMarkdown(computed.report));
    else told.push(stabilityMarkdown(computed.report));
  }
  return told.join('\n\n');
}

function agreementOf(frame: InputFrame): string[] {
  return agreementMarkdown(horizonAgreement({ closes: frame.close, features: computeFeatures(frame) }));
}

/** The fit of the last day of a history, with its calibration where the reader may know it: `mayKnow` as `fitCard` has it. */
export function fitMarkdown(frame: InputFrame, mayKnow: boolean): string {
  const features = computeFeatures(frame);
  const block = blockIndexOf(lastDayOf(frame));
  const cards = HORIZONS.map((horizon) => fitCard(fitModel({ closes: frame.close, features, horizon, block }), mayKnow));
  const head = ['Horizon', 'Trained', 'Days', 'Base rate', ...MODEL_INPUTS, ...(mayKnow ? ['a', 'b', 'P(up) can be'] : [])];
  return `Coefficients of \`${modelVersionOf(block)}\`, the fit in force on the last day:\n\n${table(head, cards.map(fitRow))}`;
}

function fitRow({ horizon, trainedFrom, trainedTo, trainingDays, baseRate, coefficients, calibration }: FitCard): string[] {
  return [
    horizon,
    `${trainedFrom} to ${trainedTo}`,
    `${trainingDays}`,
    baseRate.toFixed(4),
    ...MODEL_INPUTS.map((name) => coefficients[name].toFixed(4)),
    ...(calibration === null ? [] : calibrationCells(calibration)),
  ];
}

function calibrationCells({ intercept, slope, lowest, highest }: FitCalibration): string[] {
  return [intercept.toFixed(4), slope.toFixed(4), `${lowest.toFixed(2)} to ${highest.toFixed(2)}`];
}
