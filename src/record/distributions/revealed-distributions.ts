import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { listCommittedDays } from '../day-queries.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { mayReadDistributions } from '../forecast-visibility.ts';
import type { ForecastDistributions } from '../schemas/distributions.ts';
import type { DayModel, StoredDistribution } from './day-distributions.ts';
import type { DistributionScores, DistributionScoresDoc } from './distribution-scores.ts';
import { openDistributions } from './open-distributions.ts';

export interface DistributionDeps {
  record: ForecastRecord;
  distributionScores: DistributionScores;
  saltSecret: string;
}

/** The distributions of the resolved ones of some forecasts, in their order. Those of all others are left out for every caller. */
export async function openRevealedDistributions(deps: DistributionDeps, docs: readonly ForecastDoc[]): Promise<ForecastDistributions[]> {
  const revealed = docs.filter(mayReadDistributions);
  if (revealed.length === 0) return [];
  const [days, scores] = await Promise.all([
    listCommittedDays(
      deps.record,
      revealed.map(({ day }) => day),
      [...new Set(revealed.map(({ horizonDays }) => horizonDays))],
    ),
    deps.distributionScores.listByIds(revealed.map(({ _id }) => _id)),
  ]);
  const scoresById = new Map(scores.map((one) => [one._id, one]));
  return revealed.map((doc) => {
    const { metadata, models = [], distributions } = days.get(doc.day)!;
    const stored = distributions?.[doc.horizonDays] ?? [];
    return {
      predictionId: doc._id,
      date: formatDay(doc.day),
      horizon: formatHorizonName(doc.horizonDays),
      sequence: doc.sequence,
      attestationUid: doc.attestation!.uid,
      resolutionUid: doc.reveal!.uid,
      metadata: metadata.json,
      openings: describeOpenings(deps.saltSecret, doc._id, stored, models),
      missing: models.flatMap(({ name, role, missingBecause: reason }) => (reason === null ? [] : [{ name, role, reason }])),
      ...describeScores(scoresById.get(doc._id), stored),
    };
  });
}

function describeOpenings(saltSecret: string, predictionId: string, stored: readonly StoredDistribution[], models: readonly DayModel[]) {
  return openDistributions(saltSecret, predictionId, stored).map(({ modelVersion, salt, quantilesMicro }, index) => {
    const { name } = stored[index]!;
    const { role } = models.find((model) => model.name === name)!;
    return { name, role, modelVersion, salt, quantilesMicro: [...quantilesMicro] };
  });
}

function describeScores(scores: DistributionScoresDoc | undefined, stored: readonly StoredDistribution[]) {
  return {
    realised: scores?.realised ?? null,
    scores: stored.flatMap(({ name, modelVersion }) => {
      const own = scores?.models[name];
      return own === undefined ? [] : [{ name, modelVersion, ...own }];
    }),
    comparisons: scores?.comparisons ?? [],
  };
}
