import type { z } from 'zod';
import { type Caller, isPublicCaller } from '../auth/caller.ts';
import { formatDay } from '../forecast/day.ts';
import { formatHorizonName } from '../forecast/model.ts';
import type { Direction } from '../forecast/signal.ts';
import { type CommittedValues, type ForecastDoc, type ForecastState, fromCents, hasPublicValues } from './forecast-doc.ts';
import type { FORECAST_ID, FORECAST_PRICES, FORECAST_STATE, FORECAST_VALUES } from './schemas/forecast.ts';

/** When forecasts become public (setting `REVEAL`): at their resolution, or at once. */
export type RevealPolicy = 'resolution' | 'immediate';

export interface ViewOptions {
  caller: Caller;
  policy: RevealPolicy;
  now: Date;
}

export interface AttestationViewOptions extends ViewOptions {
  saltSecret: string;
}

/** The single access decision: Basic, Premium and payers always may; others once the values are public, or under the policy `immediate`. */
export function mayRead(doc: ForecastDoc, { caller, policy, now }: ViewOptions): boolean {
  return mayReadUnresolved({ caller, policy }) || hasPublicValues(doc, now);
}

export function mayReadUnresolved({ caller, policy }: Pick<ViewOptions, 'caller' | 'policy'>): boolean {
  return policy === 'immediate' || !isPublicCaller(caller);
}

/** Quantiles are Premium's alone until the forecast is public. */
export function mayReadQuantiles(doc: ForecastDoc, { caller, now }: Pick<ViewOptions, 'caller' | 'now'>): boolean {
  return caller.tier === 'premium' || hasPublicValues(doc, now);
}

/** Committed distributions are hidden from every tier until the outcome is on chain. */
export function mayReadDistributions({ reveal }: Pick<ForecastDoc, 'reveal'>): boolean {
  return reveal !== null;
}

/** Four digits, as committed: a client can recompute the commitment from them. */
export function toCommittedProbabilities({ confidenceBps, pUpBps }: Pick<CommittedValues, 'confidenceBps' | 'pUpBps'>) {
  return { confidence: confidenceBps / 10_000, pUp: pUpBps / 10_000 };
}

/** The interface has no DRAFT: an unattested forecast is PENDING. */
export type PublicStatus = Exclude<ForecastState, 'DRAFT'>;

export function toPublicStatus({ state }: Pick<ForecastDoc, 'state'>): PublicStatus {
  return state === 'DRAFT' ? 'PENDING' : state;
}

/** HOLD from the start for a caller who may read it: it is not scored and does not move (interface, section 3). */
export function toVisibleStatus(doc: Pick<ForecastDoc, 'state' | 'values'>, readable: boolean): PublicStatus {
  const status = toPublicStatus(doc);
  return readable && status === 'PENDING' && doc.values?.signal === 'HOLD' ? 'HOLD' : status;
}

type ServedFields = z.input<z.ZodObject<typeof FORECAST_ID & typeof FORECAST_VALUES & typeof FORECAST_STATE & typeof FORECAST_PRICES>>;

export interface ForecastView extends ServedFields {
  correct: boolean | null;
  /** Null while pending, and for HOLD and VOID. */
  result: 'WIN' | 'LOSS' | null;
  actualDirection: Direction | null;
}

export function viewForecast(doc: ForecastDoc, options: ViewOptions): ForecastView {
  const readable = mayRead(doc, options);
  // Public at once, as `btcPrice` is.
  const openingCents = doc.btcAtSignalCents ?? doc.values?.btcPriceCents;
  return {
    date: formatDay(doc.day),
    predictionId: doc._id,
    horizon: formatHorizonName(doc.horizonDays),
    sequence: doc.sequence,
    status: toVisibleStatus(doc, readable),
    ...toVisibleValues(doc, readable),
    ...toVisibleOutcome(doc),
    btcAtSignal: openingCents === undefined ? null : fromCents(openingCents),
    provisional: doc.btcAtSignalCents === null,
    regime: doc.regime,
    modelVersion: doc.modelVersion,
    windowOpensAt: doc.windowOpensAt.toISOString(),
    resolvesAt: doc.resolvesAt.toISOString(),
    timestamp: doc.signalAt.toISOString(),
    replayed: doc.replayed,
    late: doc.late,
    missed: doc.missed,
    ...toMove(doc),
  };
}

/** For every caller at once: P(up) is in none of it. */
export function toMove({ move }: Pick<ForecastDoc, 'move'>): Pick<ServedFields, 'moveSize' | 'pBig'> {
  return { moveSize: move?.moveSize ?? null, pBig: move?.pBig ?? null };
}

/** The same with what it follows from. */
export function toMoveWithLimits(doc: Pick<ForecastDoc, 'move'>) {
  if (doc.move == null) return { ...toMove(doc), moveLimits: null };
  const { moveSize: _size, pBig: _p, ...moveLimits } = doc.move;
  return { ...toMove(doc), moveLimits };
}

function toVisibleValues(doc: ForecastDoc, readable: boolean) {
  if (doc.values === null) return { signal: null, direction: null, confidence: null, pUp: null, btcPrice: null };
  const btcPrice = fromCents(doc.values.btcPriceCents);
  if (!readable) return { signal: 'GATED' as const, direction: null, confidence: null, pUp: null, btcPrice };
  const { signal, direction } = doc.values;
  return { signal, direction, ...toCommittedProbabilities(doc.values), btcPrice };
}

const NO_OUTCOME = { correct: null, result: null, actualDirection: null, returnBps: null, resolvedAt: null };

/** Public from the reveal on chain, not from the decision: a decided outcome would disclose the direction. */
function toVisibleOutcome({ resolution, reveal }: ForecastDoc) {
  if (resolution === null || reveal === null) return { btcAtResolution: null, resolved: false, ...NO_OUTCOME };
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
