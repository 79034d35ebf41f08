import type { Caller } from '../../auth/caller.ts';
import { formatDay } from '../../forecast/day.ts';
import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime/regime.ts';
import type { Interval } from '../../forecast/scoring.ts';
import type { Direction, Signal } from '../../forecast/signal.ts';
import type { WinRate } from '../../forecast/statistics/win-rate.ts';
import { type ForecastDoc, fromCents } from '../forecast-doc.ts';
import { type PublicStatus, toCommittedProbabilities, toPublicStatus } from '../forecast-view.ts';
import { computeForecastWinRate, type ScorecardSummary, summarizeForecasts } from '../scorecard/scorecard.ts';
import { buildCommitmentProof, type CommitmentProof } from './commitment-proof.ts';
import type { OracleDeps } from './deps.ts';
import { computeFreshness, type Freshness } from './freshness.ts';
import { type MadeForecast, requireNewestForecast, requireReadable } from './made-forecast.ts';
import { computeRecentAccuracy, type RecentAccuracy } from './recent-accuracy.ts';

/** The newest forecast of a horizon with what lets a buyer check it (interface, section 2.2); who has access is the door's to add. */
export interface OracleSignal extends Freshness, CommitmentProof {
  signal: Signal;
  confidence: number;
  direction: Direction;
  pUp: number;
  horizon: HorizonName;
  btcPrice: number;
  regime: Regime;
  modelVersion: string;
  model_version: string;
  timestamp: string;
  accuracy_7d: number | null;
  /** The same under a name that cannot be read as the accuracy of 7-day forecasts. */
  accuracyOfLast7Days: number | null;
  accuracy7d: RecentAccuracy;
  skill: SkillNote;
  predictionId: string;
  date: string;
  sequence: number;
  status: PublicStatus;
  windowOpensAt: string;
  resolvesAt: string;
  replayed: boolean;
  late: boolean;
  source: string;
}

/** What the record of the horizon amounts to, so that nobody takes a confidence for more than it is. */
export interface SkillNote {
  verdict: string;
  scored: number;
  /** How many independent ones these are worth. */
  effectiveN: number;
  /** How many of them have windows that do not overlap. */
  independent: number;
  accuracy: number | null;
  interval95: Interval | null;
  alwaysUpAccuracy: number | null;
}

/** A horizon's record, with its newest forecast and what Basic is told of it. */
export interface HorizonRecord {
  /** In the order of their sequence. */
  docs: ForecastDoc[];
  newest: MadeForecast;
  summary: ScorecardSummary;
  signal: OracleSignal;
}

/** The Basic answer. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getOracleSignal(deps: OracleDeps, horizonDays: number, caller: Caller): Promise<OracleSignal> {
  return (await readHorizonRecord(deps, horizonDays, caller)).signal;
}

/** The Basic answer with what it was made of. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function readHorizonRecord(deps: OracleDeps, horizonDays: number, caller: Caller): Promise<HorizonRecord> {
  const [docs, { lastDay: lastCovered }] = await Promise.all([deps.record.listByHorizon(horizonDays), deps.market.coverage()]);
  const newest = requireNewestForecast(docs);
  const options = deps.viewFor(caller);
  requireReadable(newest, options);
  const now = deps.now();
  const summary = summarizeForecasts(docs, horizonDays);
  const accuracy7d = computeRecentAccuracy(docs, { horizonDays, days: 7, now });
  const signal = {
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

function toSkillNote({ verdict, alwaysUpAccuracy }: ScorecardSummary, share: WinRate): SkillNote {
  const { n: scored, effectiveN, independent, accuracy, interval95 } = share;
  return { verdict, scored, effectiveN, independent, accuracy, interval95, alwaysUpAccuracy };
}
