import { cdf, crps } from '../../forecast/distribution.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { DistributionScores } from '../distributions/distribution-scores.ts';
import { type ForecastDoc, getReturnFromSignal } from '../forecast-doc.ts';
import type { ModelDoc, ModelStore } from '../model-store.ts';
import { toScoredForecast } from '../scorecard/scorecard.ts';

/** Where the scores of distributions come from: stored, or for a forecast of before they were committed, from its model. */
export interface DistributionSources {
  models: Pick<ModelStore, 'get'>;
  distributionScores: Pick<DistributionScores, 'listByIds'>;
}

export async function scoreForecasts(sources: DistributionSources, docs: readonly ForecastDoc[]): Promise<ScoredForecast[]> {
  const resolved = docs.flatMap((doc) => {
    const scored = toScoredForecast(doc);
    return scored === null ? [] : [{ doc, scored }];
  });
  const stored = await sources.distributionScores.listByIds(resolved.map(({ doc }) => doc._id));
  const scoresById = new Map(stored.map((one) => [one._id, one.models[one.champion] ?? null]));
  const uncommitted = resolved.filter(({ doc }) => !scoresById.has(doc._id));
  const versions = new Set(uncommitted.flatMap(({ doc }) => doc.modelVersion ?? []));
  const modelByVersion = new Map(
    await Promise.all([...versions].map(async (version) => [version, await findModel(sources.models, version)] as const)),
  );
  return resolved.map(({ doc, scored }) => ({
    ...scored,
    distribution: scoresById.get(doc._id) ?? scoreDistribution(doc, modelByVersion.get(doc.modelVersion ?? '') ?? null),
  }));
}

/** Scores the return from the price at signal time, as published; it differs slightly from that of the outcome window. */
function scoreDistribution({ values, resolution, horizonDays }: ForecastDoc, model: ModelDoc | null): ScoredForecast['distribution'] {
  const fit = model?.horizons.find((candidate) => candidate.horizonDays === horizonDays);
  if (fit === undefined || values === null || resolution === null) return null;
  const distribution = { ...values.distribution, residualQuantiles: fit.residualQuantiles };
  const realised = getReturnFromSignal({ values, resolution });
  return { crps: crps(distribution, realised), pit: cdf(distribution, realised) };
}

async function findModel(models: Pick<ModelStore, 'get'>, version: string): Promise<ModelDoc | null> {
  try {
    return await models.get(version);
  } catch (error) {
    if (isOracleError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}
