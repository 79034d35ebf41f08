import type { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import type { HorizonFigures } from '../figures/horizon-figures.ts';
import { fromCents } from '../forecast-doc.ts';
import { toCommittedProbabilities, toPublicStatus } from '../forecast-visibility.ts';
import type { ORACLE_SIGNAL } from '../schemas/oracle.ts';
import { buildCommitmentProof, type CommitmentProof } from './commitment-proof.ts';
import type { OracleDeps } from './deps.ts';
import { computeFreshness } from './freshness.ts';
import { type MadeForecast, requireMade, requireReadable } from './made-forecast.ts';
import { readRecentAccuracy } from './recent-accuracy.ts';

/** The newest forecast of a horizon with its commitment proof (interface, section 2.2); the transport adapter adds `access`. */
export type OracleSignal = Omit<z.input<typeof ORACLE_SIGNAL>, 'success' | 'access' | keyof CommitmentProof> & CommitmentProof;

export type HorizonRecord = Awaited<ReturnType<typeof readHorizonRecord>>;

/** The Basic answer. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getOracleSignal(deps: OracleDeps, horizonDays: number, caller: Caller): Promise<OracleSignal> {
  return (await readHorizonRecord(deps, horizonDays, caller)).signal;
}

export async function readHorizonRecord(deps: OracleDeps, horizonDays: number, caller: Caller) {
  const { record, statistics, market } = deps;
  const [made, [last], figures, { lastDay: lastCovered }] = await Promise.all([
    record.findLatest(horizonDays),
    record.listNewest(horizonDays, { limit: 1, before: null }),
    statistics.figures.getHorizon(horizonDays),
    market.coverage(),
  ]);
  const newest = requireMade(made);
  const options = deps.viewFor(caller);
  requireReadable(newest, options);
  const now = deps.now();
  const accuracy7d = await readRecentAccuracy(record, { horizonDays, days: 7, now });
  const signal: OracleSignal = {
    ...toForecastFields(newest),
    accuracy_7d: accuracy7d.accuracy,
    accuracyOfLast7Days: accuracy7d.accuracy,
    accuracy7d,
    skill: toSkillNote(figures),
    ...computeFreshness(newest, { lastDay: last.day, lastCovered }, now),
    ...buildCommitmentProof(newest, { saltSecret: options.saltSecret, publicUrl: deps.publicUrl }),
    source: market.source,
  };
  return { newest, figures, signal };
}

function toForecastFields(doc: MadeForecast) {
  const { signal, direction, btcPriceCents } = doc.values;
  return {
    signal,
    direction,
    ...toCommittedProbabilities(doc.values),
    horizon: formatHorizonName(doc.horizonDays),
    btcPrice: fromCents(btcPriceCents),
    regime: doc.regime,
    modelVersion: doc.modelVersion,
    model_version: doc.modelVersion,
    timestamp: doc.signalAt.toISOString(),
    predictionId: doc._id,
    date: formatDay(doc.day),
    sequence: doc.sequence,
    status: toPublicStatus(doc),
    windowOpensAt: doc.windowOpensAt.toISOString(),
    resolvesAt: doc.resolvesAt.toISOString(),
    replayed: doc.replayed,
    late: doc.late,
  };
}

/** The verdict on the horizon's whole record, so that a client does not read a confidence as proven skill. */
function toSkillNote({ summary: { verdict, alwaysUpAccuracy }, winRate }: HorizonFigures): OracleSignal['skill'] {
  const { n: scored, effectiveN, independent, accuracy, interval95 } = winRate;
  return { verdict, scored, effectiveN, independent, accuracy, interval95, alwaysUpAccuracy };
}

type Fact = 'signal' | 'horizon' | 'date' | 'predictionId' | 'windowOpensAt' | 'resolvesAt' | 'nextSignalAt';

export const FREE_HOLD_NOTE =
  'The oracle abstains for this horizon. Nothing was charged: the payment was not used and is valid for another request.';

/** Reveals the abstention only, since nothing was paid; null for any other signal. */
export function toFreeHold(forecast: Pick<OracleSignal, Fact>) {
  const { signal, horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt } = forecast;
  if (signal !== 'HOLD') return null;
  const values = { signal, direction: null, confidence: null, pUp: null } as const;
  return { ...values, horizon, date, predictionId, windowOpensAt, resolvesAt, nextSignalAt };
}
