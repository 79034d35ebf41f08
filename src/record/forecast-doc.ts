import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../chain/eas/attester.ts';
import { type Day, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { Regime } from '../forecast/regime/regime.ts';
import type { Direction, Signal } from '../forecast/signal.ts';
import type { OutboxEntry } from '../platform/outbox.ts';
import type { ForecastState } from './lifecycle/forecast-state.ts';

/** What is sold and kept back until resolution. Prices in USD cents, probabilities also in basis points as they are committed. */
export interface CommittedValues {
  signal: Signal;
  direction: Direction;
  /** Calibrated probability of the direction, 0.50 to 0.99. */
  confidence: number;
  confidenceBps: number;
  /** Probability that the close at resolution is higher than at window open. */
  pUp: number;
  pUpBps: number;
  /** BTC/USD at signal time. */
  btcPriceCents: number;
  /** Base rate of UP over the training range. */
  climatology: number;
  /** Distance from one half at which BUY or SELL is issued in this regime. */
  threshold: number;
  /** BTC/USD at resolution by level: `p05`, `p50`, `p95` and between. */
  priceQuantiles: Record<string, number>;
  /** Scale and shift of the predictive distribution of the log return (see the model's residual quantiles). */
  distribution: { scale: number; shift: number };
}

/** What the window's closes decided. Prices in USD cents. */
export interface Resolution {
  btcAtSignalCents: number;
  btcAtResolutionCents: number;
  returnBps: number;
  actualDirection: Direction;
  outcome: 'WIN' | 'LOSS' | 'HOLD';
  venues: string[];
  deviationBps: number;
  decidedAt: Date;
  /** Key of the transaction that reveals it. */
  batch: string;
}

/** What subscribers are told of a forecast. */
export type ForecastChange = 'made' | 'attested' | 'resolved';

/** One forecast: a day and a horizon. `_id` is `YYYY-MM-DD:<h>d`. */
export interface ForecastDoc {
  _id: string;
  day: Day;
  horizonDays: number;
  /** Position in the record of this horizon, from 1, one a day, no gaps. */
  sequence: number;
  state: ForecastState;
  /** Made by the demo replay at a past date. */
  replayed: boolean;
  /** The day's step ran after its time. */
  late: boolean;
  /** The service was down until the window had opened: nothing was forecast. */
  missed: boolean;
  signalAt: Date;
  windowOpensAt: Date;
  resolvesAt: Date;
  modelVersion: string | null;
  regime: Regime | null;
  values: CommittedValues | null;
  commitment: Hex;
  inputsDigest: Hex;
  metadataDigest: Hex;
  cid: string;
  /** Attestation of the day before of the same horizon, which this one refers to; null on the first day or before it is known. */
  previousUid: Hex | null;
  attestation: ConfirmedAttestation | null;
  /** Close at window open once it is known: the price the outcome is measured from. */
  btcAtSignalCents: number | null;
  /** Decided, possibly not yet revealed on chain. */
  resolution: Resolution | null;
  reveal: ConfirmedAttestation | null;
  /** Absent where nothing was ever to be told. */
  outbox?: OutboxEntry<ForecastChange>[];
}

export function formatForecastId(day: Day, horizonDays: number): string {
  return `${formatDay(day)}:${horizonDays}d`;
}

/** The outcome window of a forecast made on a day: 00:00 UTC after it, and `horizonDays` days later. Milliseconds since 1970. */
export function getOutcomeWindow(day: Day, horizonDays: number): { opensAtMs: number; resolvesAtMs: number } {
  return { opensAtMs: toInstantMs(day + 1), resolvesAtMs: toInstantMs(day + 1 + horizonDays) };
}

/** The last day whose forecasts of every horizon are over at `now`, by the calendar; late resolutions are left to `lastDayTold`. */
export function computeLastEndedDay(now: Date): Day {
  return toDay(now.getTime()) - 1 - Math.max(...HORIZONS);
}

/** Whether everybody may know what a forecast said: its resolution is on chain, or it never counts and is over. */
export function hasPublicValues({ reveal, state, resolvesAt }: Pick<ForecastDoc, 'reveal' | 'state' | 'resolvesAt'>, now: Date): boolean {
  return reveal !== null || (state === 'VOID' && resolvesAt <= now);
}

/**
 * The last day up to which everything is told: the forecasts of all horizons are over, and none of those given is left untold. Figures
 * that are made from wagers go no further, since the side that was taken gives a direction away, and so does a difference of sums.
 */
export function computeLastPublicDay(docs: readonly Pick<ForecastDoc, 'day' | 'reveal' | 'state' | 'resolvesAt'>[], now: Date): Day {
  const daysBeforeHidden = docs.filter((doc) => !hasPublicValues(doc, now)).map(({ day }) => day - 1);
  return Math.min(computeLastEndedDay(now), ...daysBeforeHidden);
}

/** True for a forecast whose outcome is not decided on chain; missed days are never open. */
export function isOpenForecast({ state, missed }: Pick<ForecastDoc, 'state' | 'missed'>): boolean {
  return !missed && (state === 'DRAFT' || state === 'PENDING');
}

/** Whole cents of a dollar amount. */
export function toCents(usd: number): number {
  return Math.round(usd * 100);
}

export function fromCents(cents: number): number {
  return cents / 100;
}
