import type { Caller } from '../../../../auth/caller.ts';
import { formatDay } from '../../../../forecast/day.ts';
import * as model from '../../../../forecast/model.ts';
import { getModelName, MODEL_VERSIONS } from '../../../../forecast/models/registry.ts';
import { REGIME_NAMES, REGIMES } from '../../../../forecast/regime/regime.ts';
import { REGIME_RULE_TERMS, REGIME_RULES } from '../../../../forecast/regime/rules.ts';
import { getLicences } from '../../../../market/licences.ts';
import type { SeriesHealth } from '../../../../market/series/series-health.ts';
import { mayReadUnresolved } from '../../../../record/forecast-visibility.ts';
import { buildFitCard } from '../../../../record/model-card/fit-card.ts';
import { MODEL_INPUT_SERIES } from '../../../../record/model-card/model-inputs.ts';
import * as statements from '../../../../record/model-card/statements.ts';
import { VERSION_STATEMENTS } from '../../../../record/model-card/version-statements.ts';
import type { ModelDoc } from '../../../../record/model-store.ts';
import { digestCoefficients } from '../../../../record/model-store.ts';
import type { HttpDeps } from '../../deps.ts';
import type { ModelCard } from './model-card-schemas.ts';

export type ModelCardDeps = Pick<HttpDeps, 'market' | 'models' | 'publicUrl' | 'record' | 'viewFor'>;

/** All horizons of a day have the same model version. */
const ANY_HORIZON = 7;

/** @param series health of each market series */
export async function buildModelCard(deps: ModelCardDeps, caller: Caller, series: readonly SeriesHealth[]): Promise<ModelCard> {
  const { record, models, publicUrl } = deps;
  const version = (await record.findLatest(ANY_HORIZON))?.modelVersion ?? null;
  const mayReadCalibration = mayReadUnresolved(deps.viewFor(caller));
  return {
    name: version === null ? model.MODEL_NAME : getModelName(version),
    method: [...statements.METHOD],
    trials: model.TRIAL_COUNT,
    versions: listModelVersions(version),
    distributionTrials: model.DISTRIBUTION_TRIAL_COUNT,
    blockDays: model.BLOCK_DAYS,
    embargoDays: model.EMBARGO_DAYS,
    trainingStart: formatDay(model.TRAINING_START),
    scores: [...model.MODEL_INPUTS],
    inputs: listModelInputs(deps, series),
    regimes: REGIME_NAMES.map((regime) => {
      const { daysToEnter, theta, riskLevel } = REGIMES[regime];
      return { regime, rule: REGIME_RULES[regime], daysToEnter, theta, riskLevel };
    }),
    regimeTerms: REGIME_RULE_TERMS,
    independentCallsAYear: model.HORIZONS.map((days) => ({
      horizon: model.formatHorizonName(days),
      calls: statements.countIndependentCallsPerYear(days),
    })),
    fitted: version === null ? null : toFittedModel(await models.get(version), mayReadCalibration),
    selfTests: {
      walkForward: `${publicUrl}/api/self-test/walk-forward`,
      contamination: `${publicUrl}/api/self-test/contamination`,
      stability: `${publicUrl}/api/self-test/stability`,
    },
    intendedUse: [...statements.INTENDED_USE],
    notFor: [...statements.NOT_INTENDED_FOR],
    knownFailures: [...statements.KNOWN_FAILURES],
    limits: [...statements.CAVEATS],
  };
}

/** @param champion model version of the newest forecast */
function listModelVersions(champion: string | null): ModelCard['versions'] {
  return MODEL_VERSIONS.map(({ name, title, distributionTrials }) => {
    const { reads, method, findings } = VERSION_STATEMENTS[name];
    const role = champion === null ? null : getModelName(champion) === name ? 'champion' : 'challenger';
    return { name, title, role, distributionTrials, reads: [...reads], method: [...method], findings: [...findings] };
  });
}

function toFittedModel(doc: ModelDoc, mayReadCalibration: boolean): ModelCard['fitted'] {
  return {
    version: doc._id,
    fittedAt: doc.fittedAt.toISOString(),
    horizons: doc.horizons.map((fit) => buildFitCard(fit, mayReadCalibration)),
    trainingDigest: doc.trainingDigest,
    coefficientsDigest: digestCoefficients(doc),
  };
}

function listModelInputs({ market }: ModelCardDeps, seriesHealth: readonly SeriesHealth[]): ModelCard['inputs'] {
  return MODEL_INPUT_SERIES.map(({ enters, ...input }) => {
    const { source, providers } = seriesHealth.find(({ series }) => series === input.series)!;
    return { ...input, enters: [...enters], source, licences: getLicences(market, providers) };
  });
}
