import type { Address, Hex } from 'viem';
import type { PredictionData, ResolutionData, SchemaName } from '../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../chain/eas/raw-attestation.ts';
import type { Day } from '../forecast/day.ts';

/** Evidence that could not be read, and why. */
export interface Unread {
  problem: string;
}

/** An attestation that is expected on chain. */
export interface AttestationEvidence<Schema extends SchemaName = SchemaName> {
  uid: Hex;
  schema: Schema;
  /** Null: the chain has none of this uid. */
  content: RawAttestation | Unread | null;
  /** Time of its block; null: not read, the time that the contract stores is used; unread: no block has its event. */
  blockAt: Date | Unread | null;
}

/** Content of an attestation that passed its own checks. */
export interface Attestation<Data> {
  uid: Hex;
  /** Block time. */
  at: Date;
  refUid: Hex;
  data: Data;
}

export type Prediction = Attestation<PredictionData>;
export type Resolution = Attestation<ResolutionData>;

/** Independent daily closes (USD) at 00:00 UTC of the next day. */
export interface PriceEvidence {
  /** Human-readable origin. */
  source: string;
  /** Maximum distance of a close on chain; 0 means equal to the cent. */
  toleranceBps: number;
  /** Last day of the record's own data; null for data without an end. A forecast that ends later can never resolve. */
  endsOn: Day | null;
  closes: ReadonlyMap<Day, number>;
}

/** One close per day. */
export interface PriceHistory {
  firstDay: Day;
  /** USD; NaN for a missing close. */
  closes: Float64Array;
}

/** What a service says of one forecast. Probabilities 0 to 1, prices in USD. */
export interface ClaimedRow {
  date: string;
  sequence: number;
  status: string;
  signal: string | null;
  direction: string | null;
  confidence: number | null;
  pUp: number | null;
  btcPrice: number | null;
  btcAtSignal: number | null;
  btcAtResolution: number | null;
  returnBps: number | null;
  outcome: { actualReturn: number; actualDirection: string; correct: boolean } | null;
  resolved: boolean;
  resolvedAt: string | null;
  windowOpensAt: string;
  resolvesAt: string;
  missed: boolean;
  replayed?: boolean | undefined;
  attestationUid: string | null;
  resolutionUid: string | null;
}

/** A scorecard of a service, with all its rows. */
export interface ClaimedScorecard {
  horizon?: string | undefined;
  summary: Record<string, unknown>;
  stats?: Record<string, unknown> | undefined;
  statistics?: Record<string, unknown> | undefined;
  byHorizon?: { horizon: string; [figure: string]: unknown }[] | undefined;
  predictions: ClaimedRow[];
  [figure: string]: unknown;
}

/** What every check gets. */
export interface CheckContext {
  attester: Address;
  now: Date;
}

export function isUnread(evidence: object | null | undefined): evidence is Unread {
  return evidence != null && 'problem' in evidence;
}
