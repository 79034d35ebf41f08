import { cdf, crps } from '../../distribution.ts';
import type { HorizonDays, HorizonModel } from '../../model.ts';
import type { ModelRows, ModelVersion } from '../../models/model-version.ts';
import { fitModelVersion } from '../../models/registry.ts';
import type { Fold } from '../out-of-sample.ts';

/** One version's scores of the days of a fold, in their order. */
export interface VersionFold {
  /** Its P(up) is that of the version. */
  fold: Fold;
  model: HorizonModel;
  /** In log-return units; lower is better. */
  crps: Float64Array;
  /** Probability of at most the realised return. */
  pit: Float64Array;
}

/** The folds of one horizon as forecast by one version. */
export interface VersionWalk {
  horizonDays: HorizonDays;
  folds: VersionFold[];
}

/** A version's fits and scores on folds whose direction is fitted: versions differ in the distribution alone. */
export function walkVersion(
  version: ModelVersion,
  walks: readonly { horizonDays: HorizonDays; folds: readonly Fold[] }[],
  history: ModelRows,
): VersionWalk[] {
  return walks.map(({ horizonDays, folds }) => ({ horizonDays, folds: folds.map((fold) => scoreFold(version, fold, history)) }));
}

function scoreFold(version: ModelVersion, fold: Fold, history: ModelRows): VersionFold {
  const { model: direction, days } = fold;
  const model = fitModelVersion(version, direction, history);
  const scores = { crps: new Float64Array(days.length), pit: new Float64Array(days.length) };
  for (let index = 0; index < days.length; index++) {
    const { row, pUp, realised } = days[index];
    const distribution = version.buildDistribution(model, { features: history.features, row, pUp });
    scores.crps[index] = crps(distribution, realised);
    scores.pit[index] = cdf(distribution, realised);
  }
  return { fold, model, ...scores };
}
