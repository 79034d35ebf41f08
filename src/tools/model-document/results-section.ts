import { compareHorizons } from '../../forecast/backtest/horizon-agreement.ts';
import { formatDay } from '../../forecast/day.ts';
import { computeFeatures } from '../../forecast/features/compute-features.ts';
import { fitModel } from '../../forecast/fit/walk-forward.ts';
import { getLastDay, type InputFrame } from '../../forecast/input-frame.ts';
import { formatModelVersion, getBlockIndex, HORIZONS, MODEL_INPUTS } from '../../forecast/model.ts';
import { computeReports } from '../../pipeline/self-test/computations.ts';
import { buildFitCard, type FitCalibration, type FitCard } from '../../record/model-card/fit-card.ts';
import type { ModelHistory } from './histories.ts';
import { renderMarkdownTable } from './markdown.ts';
import {
  renderAgreement,
  renderContaminationResults,
  renderOverfittingResults,
  renderStabilityResults,
  renderWalkForwardResults,
} from './results.ts';

/** The fit of the last day and the results of all self-tests. `real`: services use this fit today. */
export async function renderResults({ frame, pointInTime, vintages }: ModelHistory, real: boolean): Promise<string> {
  const input = { frame, pointInTime: await pointInTime(), vintages };
  const sections = [`From ${formatDay(frame.firstDay)} to ${formatDay(getLastDay(frame))}.`, renderFit(frame, !real)];
  for (const computed of computeReports(input, ['walk-forward', 'overfitting', 'contamination', 'stability'])) {
    if (computed.name === 'walk-forward') sections.push(renderWalkForwardResults(computed.report), ...renderHorizonAgreement(frame));
    else if (computed.name === 'overfitting') sections.push(renderOverfittingResults(computed.report));
    else if (computed.name === 'contamination') sections.push(renderContaminationResults(computed.report));
    else sections.push(renderStabilityResults(computed.report));
  }
  return sections.join('\n\n');
}

function renderHorizonAgreement(frame: InputFrame): string[] {
  return renderAgreement(compareHorizons({ closes: frame.close, features: computeFeatures(frame) }));
}

/** The fit of the last day, with its calibration if `showCalibration`: on real data it would reveal open forecasts. */
export function renderFit(frame: InputFrame, showCalibration: boolean): string {
  const features = computeFeatures(frame);
  const block = getBlockIndex(getLastDay(frame));
  const cards = HORIZONS.map((horizon) => buildFitCard(fitModel({ closes: frame.close, features, horizon, block }), showCalibration));
  const head = ['Horizon', 'Trained', 'Days', 'Base rate', ...MODEL_INPUTS, ...(showCalibration ? ['a', 'b', 'P(up) can be'] : [])];
  return `Coefficients of \`${formatModelVersion(block)}\`, the fit in force on the last day:\n\n${renderMarkdownTable(head, cards.map(formatFitRow))}`;
}

function formatFitRow({ horizon, trainedFrom, trainedTo, trainingDays, baseRate, coefficients, calibration }: FitCard): string[] {
  return [
    horizon,
    `${trainedFrom} to ${trainedTo}`,
    `${trainingDays}`,
    baseRate.toFixed(4),
    ...MODEL_INPUTS.map((name) => coefficients[name].toFixed(4)),
    ...(calibration === null ? [] : formatCalibration(calibration)),
  ];
}

function formatCalibration({ intercept, slope, lowest, highest }: FitCalibration): string[] {
  return [intercept.toFixed(4), slope.toFixed(4), `${lowest.toFixed(2)} to ${highest.toFixed(2)}`];
}
