import { type Caller, isPublicCaller } from '../auth/caller.ts';
import { formatDay } from '../forecast/day.ts';
import { formatHorizonName, type HorizonName } from '../forecast/model.ts';
import type { Regime } from '../forecast/regime/regime.ts';
import type { Direction, Signal } from '../forecast/signal.ts';
import { type CommittedValues, type ForecastDoc, fromCents, hasPublicValues } from './forecast-doc.ts';
import type { ForecastState } from './lifecycle/forecast-state.ts';

/** When forecasts become public (setting `REVEAL`): at their resolution, or at once. */
export type RevealPolicy = 'resolution' | 'immediate';

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
  return mayReadUnresolved({ caller, policy }) || hasPublicValues(doc, now);
}

/** Whether a caller may know what a forecast says, and what was staked on it, while it is open. */
export function mayReadUnresolved({ caller, policy }: Pick<ViewOptions, 'caller' | 'policy'>): boolean {
  return policy === 'immediate' || !isPublicCaller(caller);
}

/**
 * Whether a caller may know how far the price was expected to go: what is Premium's alone while the forecast is open, and everybody's once
 * what it said is.
 */
export function mayReadQuantiles(doc: ForecastDoc, { caller, now }: Pick<ViewOptions, 'caller' | 'now'>): boolean {
  return caller.tier === 'premium' || hasPublicValues(doc, now);
}

/** Probabilities as they are committed, four digits: whoever is told them can recompute the commitment. */
export function toCommittedProbabilities({ confidenceBps, pUpBps }: Pick<CommittedValues, 'confidenceBps' | 'pUpBps'>): {
  confidence: number;
  pUp: number;
} {
  return { confidence: confidenceBps / 10_000, pUp: pUpBps / 10_000 };
}

/** Status as the interface spells it: an unattested forecast is as pending as an attested one. */
export type PublicStatus = Exclude<ForecastState, 'DRAFT'>;

export function toPublicStatus({ state }: Pick<ForecastDoc, 'state'>): PublicStatus {
  return state === 'DRAFT' ? 'PENDING' : state;
}

export interface ForecastView {
  date: string;
  predictionId: string;
  horizon: HorizonName;
  sequence: number;
  status: PublicStatus;
  /** `GATED` when the caller may not see it; null when nothing was forecast. */
  signal: Signal | 'GATED' | null;
  direction: Direction | null;
  confidence: number | null;
  pUp: number | null;
  btcPrice: number | null;
  /** The close at window open; the price at signal time while that is not known (`provisional`). Null where neither is. */
  btcAtSignal: number | null;
  /** Whether `btcAtSignal` is not yet the close that the outcome is measured from. */
  provisional: boolean;
  btcAtResolution: number | null;
  resolved: boolean;
  correct: boolean | null;
  /** WIN or LOSS; null while pending and for HOLD and VOID. */
  result: 'WIN' | 'LOSS' | null;
  actualDirection: Direction | null;
  returnBps: number | null;
  resolvedAt: string | null;
  regime: Regime | null;
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
  return {
    date: formatDay(doc.day),
    predictionId: doc._id,
    horizon: formatHorizonName(doc.horizonDays),
    sequence: doc.sequence,
    status: toPublicStatus(doc),
    ...toVisibleValues(doc, mayRead(doc, options)),
    ...toVisibleOutcome(doc),
    btcAtSignal: getOpeningPrice(doc),
    provisional: doc.btcAtSignalCents === null,
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

/** The price at signal time is public at once, as `btcPrice` is. */
function getOpeningPrice({ btcAtSignalCents, values }: ForecastDoc): number | null {
  const cents = btcAtSignalCents ?? values?.btcPriceCents ?? null;
  return cents === null ? null : fromCents(cents);
}

function toVisibleValues(
  doc: ForecastDoc,
  readable: boolean,
): Pick<ForecastView, 'signal' | 'direction' | 'confidence' | 'pUp' | 'btcPrice'> {
  if (doc.values === null) return { signal: null, direction: null, confidence: null, pUp: null, btcPrice: null };
  const btcPrice = fromCents(doc.values.btcPriceCents);
  if (!readable) return { signal: 'GATED', direction: null, confidence: null, pUp: null, btcPrice };
  const { signal, direction } = doc.values;
  return { signal, direction, ...toCommittedProbabilities(doc.values), btcPrice };
}

type OutcomeFields = 'btcAtResolution' | 'resolved' | 'correct' | 'result' | 'actualDirection' | 'returnBps' | 'resolvedAt';

/** The outcome is public from the moment the reveal is on chain, not when it was decided: before, it would tell the direction. */
function toVisibleOutcome(doc: ForecastDoc): Pick<ForecastView, OutcomeFields> {
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
