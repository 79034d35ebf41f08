import { formatDay } from '../../forecast/day.ts';
import { type HorizonName, horizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime.ts';
import type { Interval } from '../../forecast/scoring.ts';
import type { Direction, Signal } from '../../forecast/signal.ts';
import type { ShareOfWins } from '../../forecast/statistics/record-summary.ts';
import type { Caller } from '../caller.ts';
import { type ForecastDoc, fromCents } from '../forecast.ts';
import { type ScorecardSummary, shareOfWins, summaryOf } from '../scorecard.ts';
import { committedProbabilities, type PublicStatus, statusOf } from '../views.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import { type MadeForecast, newestOf, requireReadable } from './newest.ts';
import type { OracleParts } from './parts.ts';
import { type Proof, proofOf } from './proof.ts';
import { type RecentAccuracy, recentAccuracy } from './recent-accuracy.ts';

/** The newest forecast of a horizon with what lets a buyer check it (interface, section 2.2); who has access is the door's to add. */
export interface OracleSignal extends Freshness, Proof {
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
export async function oracleSignal(parts: OracleParts, horizonDays: number, caller: Caller): Promise<OracleSignal> {
  return (await horizonRecord(parts, horizonDays, caller)).signal;
}

/** The Basic answer with what it was made of. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function horizonRecord(parts: OracleParts, horizonDays: number, caller: Caller): Promise<HorizonRecord> {
  const [docs, { lastDay: lastCovered }] = await Promise.all([parts.record.ofHorizon(horizonDays), parts.market.coverage()]);
  const newest = newestOf(docs);
  const options = parts.viewFor(caller);
  requireReadable(newest, options);
  const now = parts.now();
  const summary = summaryOf(docs, horizonDays);
  const accuracy7d = recentAccuracy(docs, { horizonDays, days: 7, now });
  const signal = {
    ...forecastFields(newest),
    accuracy_7d: accuracy7d.accuracy,
    accuracyOfLast7Days: accuracy7d.accuracy,
    accuracy7d,
    skill: skillNote(summary, shareOfWins(docs, horizonDays)),
    ...freshnessOf(newest, { lastDay: docs[docs.length - 1].day, lastCovered }, now),
    ...proofOf(newest, { saltSecret: options.saltSecret, publicUrl: parts.publicUrl }),
    source: parts.market.source,
  };
  return { docs, newest, summary, signal };
}

function forecastFields(doc: MadeForecast) {
  const { signal, direction, btcPriceCents } = doc.values;
  return {
    signal,
    direction,
    ...committedProbabilities(doc.values),
    horizon: horizonName(doc.horizonDays),
    btcPrice: fromCents(btcPriceCents),
    regime: doc.regime,
    modelVersion: doc.modelVersion,
    model_version: doc.modelVersion,
    timestamp: doc.signalAt.toISOString(),
    predictionId: doc._id,
    date: formatDay(doc.day),
    sequence: doc.sequence,
    status: statusOf(doc),
    windowOpensAt: doc.windowOpensAt.toISOString(),
    resolvesAt: doc.resolvesAt.toISOString(),
    replayed: doc.replayed,
    late: doc.late,
  };
}

function skillNote({ verdict, alwaysUpAccuracy }: ScorecardSummary, share: ShareOfWins): SkillNote {
  const { n: scored, effectiveN, independent, accuracy, interval95 } = share;
  return { verdict, scored, effectiveN, independent, accuracy, interval95, alwaysUpAccuracy };
}
