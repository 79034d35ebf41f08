import type { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import type { WinRate } from '../../forecast/statistics/win-rate.ts';
import { fromCents } from '../forecast-doc.ts';
import { toCommittedProbabilities, toPublicStatus } from '../forecast-visibility.ts';
import type { ORACLE_SIGNAL } from '../schemas/oracle.ts';
import { computeForecastWinRate, type ScorecardSummary, summarizeForecasts } from '../scorecard/scorecard.ts';
import { buildCommitmentProof, type CommitmentProof } from './commitment-proof.ts';
import type { OracleDeps } from './deps.ts';
import { computeFreshness } from './freshness.ts';
import { type MadeForecast, requireNewestForecast, requireReadable } from './made-forecast.ts';
import { computeRecentAccuracy } from './recent-accuracy.ts';

/** The newest forecast of a horizon with its commitment proof (interface, section 2.2); the transport adapter adds `access`. */
export type OracleSignal = Omit<z.input<typeof ORACLE_SIGNAL>, 'success' | 'access' | keyof CommitmentProof> & CommitmentProof;

export type HorizonRecord = Awaited<ReturnType<typeof readHorizonRecord>>;

/** The Basic answer. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getOracleSignal(deps: OracleDeps, horizonDays: number, caller: Caller): Promise<OracleSignal> {
  return (await readHorizonRecord(deps, horizonDays, caller)).signal;
}

export async function readHorizonRecord(deps: OracleDeps, horizonDays: number, caller: Caller) {
  const [docs, { lastDay: lastCovered }] = await Promise.all([deps.record.listByHorizon(horizonDays), deps.market.coverage()]);
  const newest = requireNewestForecast(docs);
  const options = deps.viewFor(caller);
  requireReadable(newest, options);
  const now = deps.now();
  const summary = summarizeForecasts(docs, horizonDays);
  const accuracy7d = computeRecentAccuracy(docs, { horizonDays, days: 7, now });
  const signal: OracleSignal = {
    ...toForecastFields(newest),
    accuracy_7d: accuracy7d.accuracy,
    accuracyOfLast7Days: accuracy7d.accuracy,
    accuracy7d,
    skill: toSkillNote(summary, computeForecastWinRate(docs, horizonDays)),
    ...computeFreshness(newest, { lastDay: docs[docs.length - 1].day, lastCovered }, now),
    ...buildCommitmentProof(newest, { saltSecret: options.saltSecret, publicUrl: deps.publicUrl }),
    source: deps.market.source,
  };
  return { docs, newest, summary, signal };
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
function toSkillNote({ verdict, alwaysUpAccuracy }: ScorecardSummary, share: WinRate): OracleSignal['skill'] {
  const { n: scored, effectiveN, independent, accuracy, interval95 } = share;
  return { verdict, scored, effectiveN, independent, accuracy, interval95, alwaysUpAccuracy };
}
