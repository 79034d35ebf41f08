import type { Hex } from 'viem';
import { computeDistributionDigest, type DistributionOpening } from '../../chain/eas/distribution-digest.ts';
import { deriveSalt } from '../../chain/eas/salt.ts';
import type { Day } from '../../forecast/day.ts';
import { formatHorizonName, type HorizonDays } from '../../forecast/model.ts';
import type { ModelName } from '../../forecast/models/registry.ts';
import { formatForecastId } from '../forecast-doc.ts';
import { type DayDistributions, type DayModel, readQuantilesMicro, type StoredDistribution } from './day-distributions.ts';

/** Salt and quantiles of each version's distribution of one forecast, the champion's first. */
export function openDistributions(saltSecret: string, predictionId: string, stored: readonly StoredDistribution[]): DistributionOpening[] {
  return stored.map((distribution) => ({
    predictionId,
    modelVersion: distribution.modelVersion,
    salt: deriveSalt(saltSecret, `${predictionId} ${distribution.name}`),
    quantilesMicro: readQuantilesMicro(distribution),
  }));
}

/** The models of a day as its public metadata lists them, each with the digests of its distributions by horizon. */
export function describeCommittedModels(saltSecret: string, day: Day, models: readonly DayModel[], distributions: DayDistributions) {
  return models.map(({ name, role, modelVersion, missingBecause }) => {
    const base = { name, role, modelVersion };
    return modelVersion === null
      ? { ...base, missingBecause, distributions: null }
      : { ...base, distributions: computeDigests(saltSecret, day, name, distributions) };
  });
}

function computeDigests(saltSecret: string, day: Day, name: ModelName, distributions: DayDistributions): Record<string, Hex> {
  const entries = Object.entries(distributions).map(([horizonDays, stored]) => {
    const own = stored.filter((distribution) => distribution.name === name);
    const [opening] = openDistributions(saltSecret, formatForecastId(day, Number(horizonDays)), own);
    return [formatHorizonName(Number(horizonDays) as HorizonDays), computeDistributionDigest(opening!)];
  });
  return Object.fromEntries(entries) as Record<string, Hex>;
}
