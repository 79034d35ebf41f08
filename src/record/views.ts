import { formatDay } from '../forecast/day.ts';
import { type Caller, isAnybody, type RevealPolicy } from './caller.ts';
import { type ForecastDoc, fromCents } from './forecast.ts';
import type { ForecastState } from './state.ts';

export interface ViewOptions {
  caller: Caller;
  policy: RevealPolicy;
  now: Date;
}

/**
 * The one place that decides whether a caller may see what a forecast says. Basic and Premium callers and payers always may;
 * everybody may once the resolution is on chain, under the policy `immediate`, or when a forecast that never counts is over.
 */
export function mayRead(doc: ForecastDoc, { caller, policy, now }: ViewOptions): boolean {
  if (policy === 'immediate' || !isAnybody(caller)) return true;
  return doc.reveal !== null || (doc.state === 'VOID' && doc.resolvesAt <= now);
}

/** Status as the interface spells it: an unattested forecast is as pending as an attested one. */
export type PublicStatus = Exclude<ForecastState, 'DRAFT'>;

export interface ForecastView {
  date: string;
  predictionId: string;
  horizon: string;
  sequence: number;
  status: PublicStatus;
  /** `GATED` when the caller may not see it; null when nothing was forecast. */
  signal: string | null;
  direction: string | null;
  confidence: number | null;
  pUp: number | null;
  btcPrice: number | null;
  btcAtSignal: number | null;
  btcAtResolution: number | null;
  resolved: boolean;
  correct: boolean | null;
  /** WIN or LOSS; null while pending and for HOLD and VOID. */
  result: 'WIN' | 'LOSS' | null;
  actualDirection: string | null;
  returnBps: number | null;
  resolvedAt: string | null;
  regime: string | null;
  modelVersion: string | null;
  windowOpensAt: string;
  resolvesAt: string;
  timestamp: string;
  replayed: boolean;
  late: boolean;
  missed: boolean;
}

/** A forecast as a caller may see it. */
export function viewForecast(doc: ForecastDoc, options: ViewOptions): ForecastView {
  const status = doc.state === 'DRAFT' ? 'PENDING' : doc.state;
  return {
    date: formatDay(doc.day),
    predictionId: doc._id,
    horizon: `${doc.horizonDays}d`,
    sequence: doc.sequence,
    status,
    ...visibleValues(doc, mayRead(doc, options)),
    ...visibleOutcome(doc),
    btcAtSignal: doc.btcAtSignalCents === null ? null : fromCents(doc.btcAtSignalCents),
    regime: doc.regime,
    modelVersion: doc.modelVersion,
    windowOpensAt: doc.windowOpensAt.toISOString(),
    resolvesAt: doc.resolvesAt.toISOString(),
    timestamp: doc.signalAt.toISOString(),
    replayed: doc.replayed,
    late: doc.late,
    missed: doc.missed,
  };
}

function visibleValues(
  doc: ForecastDoc,
  readable: boolean,
): Pick<ForecastView, 'signal' | 'direction' | 'confidence' | 'pUp' | 'btcPrice'> {
  if (doc.values === null) return { signal: null, direction: null, confidence: null, pUp: null, btcPrice: null };
  const btcPrice = fromCents(doc.values.btcPriceCents);
  if (!readable) return { signal: 'GATED', direction: null, confidence: null, pUp: null, btcPrice };
  const { signal, direction, confidence, pUp } = doc.values;
  return { signal, direction, confidence, pUp, btcPrice };
}

type OutcomeFields = 'btcAtResolution' | 'resolved' | 'correct' | 'result' | 'actualDirection' | 'returnBps' | 'resolvedAt';

/** The outcome is public from the moment the reveal is on chain, not when it was decided: before, it would tell the direction. */
function visibleOutcome(doc: ForecastDoc): Pick<ForecastView, OutcomeFields> {
  const { resolution, reveal } = doc;
  if (resolution === null || reveal === null) {
    return {
      btcAtResolution: null,
      resolved: false,
      correct: null,
      result: null,
      actualDirection: null,
      returnBps: null,
      resolvedAt: null,
    };
  }
  const result = resolution.outcome === 'HOLD' ? null : resolution.outcome;
  return {
    btcAtResolution: fromCents(resolution.btcAtResolutionCents),
    resolved: true,
    correct: result === null ? null : result === 'WIN',
    result,
    actualDirection: resolution.actualDirection,
    returnBps: resolution.returnBps,
    resolvedAt: reveal.at.toISOString(),
  };
}
