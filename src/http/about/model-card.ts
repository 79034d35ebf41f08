import { formatDay } from '../../forecast/day.ts';
import {
  BLOCK_DAYS,
  EMBARGO_DAYS,
  HORIZONS,
  horizonName,
  MODEL_INPUTS,
  MODEL_NAME,
  TRAINING_START,
  TRIAL_COUNT,
} from '../../forecast/model.ts';
import { REGIME_NAMES, REGIMES } from '../../forecast/regime.ts';
import { REGIME_RULE_TERMS, REGIME_RULES } from '../../forecast/regime-rules.ts';
import type { SeriesHealth } from '../../market/health.ts';
import { licencesOf } from '../../market/licences.ts';
import type { Caller } from '../../record/caller.ts';
import { fitCard } from '../../record/model-card/fit.ts';
import { MODEL_INPUT_SERIES } from '../../record/model-card/inputs.ts';
import { INTENDED_USE, KNOWN_FAILURES, LIMITS, METHOD, NOT_FOR, worthAYear } from '../../record/model-card/words.ts';
import { coefficientsDigest } from '../../record/model-digest.ts';
import type { ModelDoc } from '../../record/models.ts';
import { mayReadUnresolved } from '../../record/views.ts';
import type { HttpParts } from '../parts.ts';
import type { ModelCard } from '../schemas/model-card.ts';

/** All horizons of a day are forecast by one model version. */
const ANY_HORIZON = 7;

/** The model card, from the stored model, the constants that are in force and the market as it is; `series` is the market's health. */
export async function modelCardOf(parts: HttpParts, caller: Caller, series: readonly SeriesHealth[]): Promise<ModelCard> {
  const { record, models, publicUrl } = parts;
  const version = (await record.latest(ANY_HORIZON))?.modelVersion ?? null;
  const mayKnow = mayReadUnresolved(parts.viewFor(caller));
  return {
    name: MODEL_NAME,
    method: [...METHOD],
    trials: TRIAL_COUNT,
    blockDays: BLOCK_DAYS,
    embargoDays: EMBARGO_DAYS,
    trainingStart: formatDay(TRAINING_START),
    scores: [...MODEL_INPUTS],
    inputs: inputs(parts, series),
    regimes: REGIME_NAMES.map((regime) => {
      const { daysToEnter, theta, riskLevel } = REGIMES[regime];
      return { regime, rule: REGIME_RULES[regime], daysToEnter, theta, riskLevel };
    }),
    regimeTerms: REGIME_RULE_TERMS,
    independentCallsAYear: HORIZONS.map((days) => ({ horizon: horizonName(days), calls: worthAYear(days) })),
    fitted: version === null ? null : fitted(await models.get(version), mayKnow),
    selfTests: {
      walkForward: `${publicUrl}/api/self-test/walk-forward`,
      contamination: `${publicUrl}/api/self-test/contamination`,
      stability: `${publicUrl}/api/self-test/stability`,
    },
    intendedUse: [...INTENDED_USE],
    notFor: [...NOT_FOR],
    knownFailures: [...KNOWN_FAILURES],
    limits: [...LIMITS],
  };
}

function fitted(doc: ModelDoc, mayKnow: boolean): ModelCard['fitted'] {
  return {
    version: doc._id,
    fittedAt: doc.fittedAt.toISOString(),
    horizons: doc.horizons.map((fit) => fitCard(fit, mayKnow)),
    trainingDigest: doc.trainingDigest,
    coefficientsDigest: coefficientsDigest(doc),
  };
}

function inputs({ market }: HttpParts, known: readonly SeriesHealth[]): ModelCard['inputs'] {
  return MODEL_INPUT_SERIES.map(({ enters, ...input }) => {
    const { source, providers } = known.find(({ series }) => series === input.series)!;
    return { ...input, enters: [...enters], source, licences: licencesOf(market, providers) };
  });
}
