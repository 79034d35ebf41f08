import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Binary } from 'mongodb';
import { CID } from 'multiformats/cid';
import * as Digest from 'multiformats/hashes/digest';
import { type Hex, zeroHash } from 'viem';
import { type AttestationReference, type ConfirmedAttestation, deriveSalt } from '../chain/eas/eas.ts';
import {
  type CommitmentOpening,
  DISTRIBUTION_SIZE,
  type PredictionData,
  type ResolutionData,
  toQuantilesMicro,
} from '../chain/eas/schemas.ts';
import { OracleError } from '../errors.ts';
import { type Day, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import type { CentralHalfWidths, PredictiveDistribution } from '../forecast/distribution.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { ModelName } from '../forecast/models.ts';
import type { MoveForecast } from '../forecast/move.ts';
import type { describeRegimeFactors, FearGreedLabel, Regime } from '../forecast/regime.ts';
import { type CATEGORY_NAMES, type CategoryScore, type Direction, type Signal, scoreDirection } from '../forecast/signal.ts';
import type { OutboxEntry } from '../platform/mongo.ts';

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
  /** The base rate of the last four years of training; absent from older days. */
  climatology4y?: number | null;
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

/** `changed`: only other processes learn of it. */
export type ForecastChange = 'made' | 'attested' | 'resolved' | 'changed';

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
  /** Public at once; null for a missed day, and where the history is too short; absent from older forecasts. */
  move?: MoveForecast | null;
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
  /** How often a reorganisation took one of its attestations off the chain. */
  rewinds?: number;
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

/** DRAFT: not at its depth on chain. HOLD abstained and is not scored. VOID: too late or missed; keeps its number and never counts. */
export type ForecastState = 'DRAFT' | 'PENDING' | 'WIN' | 'LOSS' | 'HOLD' | 'VOID';

/** Of a forecast that is not missed. */
export function buildResolution(
  { values }: Pick<ForecastDoc, 'values'>,
  facts: Omit<Resolution, 'returnBps' | 'actualDirection' | 'outcome'>,
): Resolution {
  const { btcAtSignalCents: from, btcAtResolutionCents: to } = facts;
  const { signal, direction } = values!;
  return {
    ...facts,
    returnBps: Math.round((to / from - 1) * 10_000),
    actualDirection: to > from ? 'UP' : 'DOWN',
    outcome: signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, from, to),
  };
}

/**
 * Key of the transaction that reveals these forecasts, whose windows end together. Derived from the ids of all that are due, so that workers that
 * read the same set share the key, and a key's content is fixed.
 */
export function formatBatchKey(docs: readonly Pick<ForecastDoc, '_id' | 'resolvesAt'>[]): string {
  const ids = createHash('sha256')
    .update(docs.map((doc) => doc._id).join(' '))
    .digest('hex');
  return `resolve:${formatDay(toDay(docs[0]!.resolvesAt.getTime()))}:${ids.slice(0, 16)}`;
}

export interface InputSource {
  series: string;
  source: string;
  observedDay: string | null;
  availableAt: string | null;
}

export interface MarketFigures {
  fearGreed: number | null;
  fearGreedLabel: FearGreedLabel | null;
  etfFlows7dUsd: number | null;
  /** The last of those 7 days; absent from older days. */
  etfFlowThroughDay?: Day | null;
}

/** Inputs of a day's forecasts, written once before all else of the day. `_id` is `YYYY-MM-DD`. */
export interface DayDoc {
  _id: string;
  day: Day;
  sequence: number;
  signalAt: Date;
  replayed: boolean;
  late: boolean;
  missedBecause: string | null;
  price: { cents: number; observedAt: Date; source: string } | null;
  context: MarketFigures | null;
  modelVersion: string | null;
  regime: Regime | null;
  regimeFactors: RegimeFactors | null;
  /** Category scores in [-1, 1] with their signals. */
  categories: Record<CategoryName, CategoryScore> | null;
  /** One-day variances of the log return (EWMA .94 and .99), which scale distributions of other horizons. */
  variance: { v94: number; v99: number } | null;
  /** Widths of the predictive distributions without their location, by horizon in days; absent from older days, and null for a missed one. */
  halfWidths?: Record<string, CentralHalfWidths> | null;
  /** By horizon in days: sizes of the moves, null where the history is too short for one, absent without a forecast by their version; null for a missed day, and absent from older ones. */
  moves?: Record<string, MoveForecast | null> | null;
  inputsDigest: Hex;
  metadata: Metadata;
  /** Keyed by horizon in days. */
  forecasts: Record<string, CommittedValues>;
  /** Absent from days of before distributions were committed; empty for a missed day. */
  models?: DayModel[];
  distributions?: DayDistributions;
  /** Absent without events to publish. */
  outbox?: OutboxEntry<'made' | 'changed'>[];
}

type CategoryName = (typeof CATEGORY_NAMES)[number];

type RegimeFactors = ReturnType<typeof describeRegimeFactors>;

const RAW_CODEC = 0x55;
const SHA2_256_CODE = 0x12;

/** Public part of a day's forecasts: RFC 8785 JSON, with the sha2-256 of its bytes as on chain and as CIDv1 (raw). */
type Metadata = ReturnType<typeof buildMetadata>;

export function buildMetadata(value: object) {
  const json = canonicalize(value) as string;
  const digest = `0x${createHash('sha256').update(json).digest('hex')}` as const;
  return { json, digest, cid: buildCid(digest) };
}

export function buildCid(digest: Hex): string {
  return CID.createV1(RAW_CODEC, Digest.create(SHA2_256_CODE, Buffer.from(digest.slice(2), 'hex'))).toString();
}

/** A distribution as committed. It stays hidden until the resolution of its horizon. */
export interface StoredDistribution {
  name: ModelName;
  modelVersion: string;
  /** The quantiles in millionths of the log return, as big-endian int32. */
  quantiles: Binary;
}

/** By horizon in days, the champion first. */
export type DayDistributions = Record<string, StoredDistribution[]>;

/** Which version took part in a day, and why one did not; public at once. */
export interface DayModel {
  name: ModelName;
  role: 'champion' | 'challenger';
  /** Null, like its distributions, for a challenger without a forecast. */
  modelVersion: string | null;
  missingBecause: string | null;
}

export function storeDistribution(name: ModelName, modelVersion: string, distribution: PredictiveDistribution): StoredDistribution {
  const { scale, shift, residualQuantiles } = distribution;
  const bytes = Buffer.alloc(DISTRIBUTION_SIZE * 4);
  const values = toQuantilesMicro(residualQuantiles.map((z) => scale * (z - shift)));
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4);
  return { name, modelVersion, quantiles: new Binary(bytes) };
}

/** In millionths of the log return. */
export function readQuantilesMicro({ quantiles }: Pick<StoredDistribution, 'quantiles'>): number[] {
  const bytes = Buffer.from(quantiles.buffer);
  return Array.from({ length: DISTRIBUTION_SIZE }, (_, index) => bytes.readInt32BE(index * 4));
}

/** Opening of a commitment. The salt is derived from the master secret, so that it survives the loss of the database. */
export function buildOpening(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: deriveSalt(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

export function buildExpectedPrediction(doc: ForecastDoc): PredictionData & AttestationReference {
  const { sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadataDigest } = doc;
  return {
    refUid: doc.previousUid ?? zeroHash,
    sequence,
    day,
    horizonDays,
    windowOpensAt,
    resolvesAt,
    commitment,
    inputsDigest,
    metadata: metadataDigest,
  };
}

/** Content of a resolution attestation. @throws OracleError INTERNAL for a forecast that is not attested or not decided */
export function buildExpectedResolution(doc: ForecastDoc, saltSecret: string): ResolutionData & AttestationReference {
  const { _id, values, attestation, resolution } = doc;
  if (values === null || attestation === null || resolution === null) throw new OracleError('INTERNAL', `Forecast ${_id} is not decided`);
  const { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome } = resolution;
  return {
    refUid: attestation.uid,
    ...buildOpening(saltSecret, _id, values),
    btcAtSignalCents,
    btcAtResolutionCents,
    returnBps,
    outcome,
  };
}
