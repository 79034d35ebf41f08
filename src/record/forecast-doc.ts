import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../chain/eas/attester.ts';
import { type Day, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { Regime } from '../forecast/regime/regime.ts';
import type { Direction, Signal } from '../forecast/signal.ts';
import type { OutboxEntry } from '../platform/outbox.ts';
import type { ForecastState } from './lifecycle/forecast-state.ts';

/** The values that stay hidden until resolution. Prices in USD cents; probabilities also in basis points, as committed. */
export interface CommittedValues {
  signal: Signal;
  direction: Direction;
  /** Calibrated probability of the direction, 0.50 to 0.99. */
  confidence: number;
  confidenceBps: number;
  /** Probability that the close at resolution is above the close at window open. */
  pUp: number;
  pUpBps: number;
  btcPriceCents: number;
  climatology: number;
  /** Minimum distance of P(up) from one half for BUY or SELL in this regime. */
  threshold: number;
  /** Quantiles of BTC/USD at resolution by level: `p05`, `p50`, `p95` and between. */
  priceQuantiles: Record<string, number>;
  /** Scale and shift of the predictive distribution of the log return; its shape is the model's residual quantiles. */
  distribution: { scale: number; shift: number };
}

/** Outcome of the window's closes. Prices in USD cents. */
export interface Resolution {
  btcAtSignalCents: number;
  btcAtResolutionCents: number;
  returnBps: number;
  actualDirection: Direction;
  outcome: 'WIN' | 'LOSS' | 'HOLD';
  venues: string[];
  deviationBps: number;
  decidedAt: Date;
  /** Idempotency key of the transaction that reveals it. */
  batch: string;
}

export type ForecastChange = 'made' | 'attested' | 'resolved';

/** One forecast of a day and horizon. `_id` is `YYYY-MM-DD:<h>d`. */
export interface ForecastDoc {
  _id: string;
  day: Day;
  horizonDays: number;
  sequence: number;
  state: ForecastState;
  replayed: boolean;
  late: boolean;
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
  /** `refUID`: attestation of the previous day of the same horizon; null on the first day or until it is known. */
  previousUid: Hex | null;
  attestation: ConfirmedAttestation | null;
  /** Close at window open, from which the outcome is measured; null until it is settled. */
  btcAtSignalCents: number | null;
  resolution: Resolution | null;
  reveal: ConfirmedAttestation | null;
  /** Absent without events to publish. */
  outbox?: OutboxEntry<ForecastChange>[];
}

export function formatForecastId(day: Day, horizonDays: number): string {
  return `${formatDay(day)}:${horizonDays}d`;
}

/** From 00:00 UTC after the forecast, for `horizonDays` days, in milliseconds since 1970. */
export function getOutcomeWindow(day: Day, horizonDays: number): { opensAtMs: number; resolvesAtMs: number } {
  return { opensAtMs: toInstantMs(day + 1), resolvesAtMs: toInstantMs(day + 1 + horizonDays) };
}

/** The last day whose windows have ended by the calendar; late resolutions are `computeLastPublicDay`'s concern. */
export function computeLastEndedDay(now: Date): Day {
  return toDay(now.getTime()) - 1 - Math.max(...HORIZONS);
}

/** True once a forecast is public: its resolution is on chain, or it is void and its window has ended. */
export function hasPublicValues({ reveal, state, resolvesAt }: Pick<ForecastDoc, 'reveal' | 'state' | 'resolvesAt'>, now: Date): boolean {
  return reveal !== null || (state === 'VOID' && resolvesAt <= now);
}

/** Figures derived from wagers stop at this day: the side of a wager, or a difference of sums, discloses a direction. */
export function computeLastPublicDay(docs: readonly Pick<ForecastDoc, 'day' | 'reveal' | 'state' | 'resolvesAt'>[], now: Date): Day {
  const daysBeforeHidden = docs.filter((doc) => !hasPublicValues(doc, now)).map(({ day }) => day - 1);
  return Math.min(computeLastEndedDay(now), ...daysBeforeHidden);
}

/** A forecast as of an instant: later attestations are removed. */
export function forecastAsOf(doc: ForecastDoc, at: Date): ForecastDoc {
  if (doc.attestation === null || doc.attestation.at > at) {
    return { ...doc, state: 'DRAFT', attestation: null, resolution: null, reveal: null };
  }
  if (doc.reveal === null) return doc.resolution === null ? doc : { ...doc, resolution: null };
  return doc.reveal.at > at ? { ...doc, state: 'PENDING', resolution: null, reveal: null } : doc;
}

/** True until the outcome is on chain; missed days are never open. */
export function isOpenForecast({ state, missed }: Pick<ForecastDoc, 'state' | 'missed'>): boolean {
  return !missed && (state === 'DRAFT' || state === 'PENDING');
}

/** Log return from the price at the forecast to the close of the resolution, which both are on chain. */
export function getReturnFromSignal({ values, resolution }: Pick<ForecastDoc, 'values' | 'resolution'>): number {
  return Math.log(resolution!.btcAtResolutionCents / values!.btcPriceCents);
}

export function toCents(usd: number): number {
  return Math.round(usd * 100);
}

export function fromCents(cents: number): number {
  return cents / 100;
}
