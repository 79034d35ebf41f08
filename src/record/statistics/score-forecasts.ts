import { cdf, crps } from '../../forecast/distribution.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ModelDoc, ModelStore } from '../model-store.ts';
import { toScoredForecast } from '../scorecard/scorecard.ts';

export async function scoreForecasts(models: Pick<ModelStore, 'get'>, docs: readonly ForecastDoc[]): Promise<ScoredForecast[]> {
  const resolved = docs.flatMap((doc) => {
    const scored = toScoredForecast(doc);
    return scored === null ? [] : [{ doc, scored }];
  });
  const versions = new Set(resolved.flatMap(({ doc }) => doc.modelVersion ?? []));
  const modelByVersion = new Map(
    await Promise.all([...versions].map(async (version) => [version, await findModel(models, version)] as const)),
  );
  return resolved.map(({ doc, scored }) => ({
    ...scored,
    distribution: scoreDistribution(doc, modelByVersion.get(doc.modelVersion ?? '') ?? null),
  }));
}

/** Scores the return from the price at signal time, as published; it differs slightly from that of the outcome window. */
function scoreDistribution({ values, resolution, horizonDays }: ForecastDoc, model: ModelDoc | null): ScoredForecast['distribution'] {
  const fit = model?.horizons.find((candidate) => candidate.horizonDays === horizonDays);
  if (fit === undefined || values === null || resolution === null) return null;
  const distribution = { ...values.distribution, residualQuantiles: fit.residualQuantiles };
  const realised = Math.log(resolution.btcAtResolutionCents / values.btcPriceCents);
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
