import { formatDay } from '../../forecast/day.ts';
import type { HorizonModel } from '../../forecast/model.ts';
import { getModelName } from '../../forecast/models/registry.ts';
import { toNumberByScore } from '../model-card/fit-card.ts';
import type { ModelDoc } from '../model-store.ts';
import type { MadeForecast } from './made-forecast.ts';

export function buildModelDetails({ horizons, trainingDigest, trials }: ModelDoc, { horizonDays, values }: MadeForecast) {
  const fit = horizons.find((candidate) => candidate.horizonDays === horizonDays) as HorizonModel;
  const [intercept, ...slopes] = fit.beta;
  return {
    version: fit.modelVersion,
    method: getModelName(fit.modelVersion),
    trainFrom: formatDay(fit.trainFrom),
    trainTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    climatology: values.climatology,
    coefficients: { intercept, ...toNumberByScore(slopes) },
    inputMeans: toNumberByScore(fit.meanX),
    calibration: { intercept: fit.calA, slope: fit.calB },
    trainingDigest,
    trials,
  };
}
