import { type Address, concatHex, encodePacked, type Hex, hexToBytes, keccak256 } from 'viem';
import type { CommitmentOpening, PredictionData, RawAttestation, ResolutionData, SchemaName } from '../chain/eas/schemas.ts';
import { getErrorMessage } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import type { GridScores } from '../forecast/distribution.ts';

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
  /** Time of its block; null: not read, the time that the contract stores is used; unread: the endpoint lists no event of it. */
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

type Reference = Pick<Attestation<never>, 'refUid'>;
export type Prediction = Attestation<PredictionData>;
export type Resolution = Attestation<ResolutionData>;

/** The attestations of a wallet that passed their own checks, in chain order. */
export type ChainRecord = { predictions: Prediction[]; resolutions: Resolution[] };

/** What an endpoint lacks of a record: what may be in there is not known to be absent. */
export interface RecordGaps {
  /** Why attestations that a claim or an attestation names could not be read, by uid in lower case. */
  unread: ReadonlyMap<string, string>;
  /** Whether the chain has attestations of the record that the events of the endpoint lack. */
  lacksEvents: boolean;
  /** Time of the newest block of the endpoint. */
  newestAt: Date;
}

/** Why an attestation that was not found may be there; null: it is not. */
export function explainAbsence(gaps: RecordGaps | undefined): string | null {
  if (gaps === undefined || (gaps.unread.size === 0 && !gaps.lacksEvents)) return null;
  return 'the endpoint lacks attestations of this record, so that it may lack this one';
}

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

type OrNull<Name extends string, Value> = Record<Name, Value | null>;

/** What a service says of one forecast. Probabilities 0 to 1, prices in USD. */
export interface ClaimedRow
  extends Record<'date' | 'status' | 'windowOpensAt' | 'resolvesAt', string>,
    OrNull<'signal' | 'direction' | 'resolvedAt' | 'attestationUid' | 'resolutionUid', string>,
    OrNull<'confidence' | 'pUp' | 'btcPrice' | 'btcAtSignal' | 'btcAtResolution' | 'returnBps', number> {
  sequence: number;
  outcome: { actualReturn: number; actualDirection: string; correct: boolean } | null;
  resolved: boolean;
  missed: boolean;
  replayed?: boolean | undefined;
}

/** A scorecard of a service, with all its rows and figures. */
export interface ClaimedScorecard extends Partial<Record<'stats' | 'statistics', Record<string, unknown> | undefined>> {
  summary: Record<string, unknown>;
  byHorizon?: { horizon: string; [figure: string]: unknown }[] | undefined;
  predictions: ClaimedRow[];
  [figure: string]: unknown;
}

/** A row as a list of one horizon shows it. */
export type ListedRow = ClaimedRow & { horizon: string; provisional: boolean };

/** A row of a list, with what other rows of the list say about it; closes in USD, null where no row has one. */
export interface ListedClaim {
  row: ListedRow;
  /** Days of the list that shows it. */
  horizon: number;
  neighbours: {
    before: Pick<ClaimedRow, 'sequence' | 'attestationUid'> | null;
    /** Rows with its number. */
    alike: number;
    openingClose: number | null;
    endingClose: number | null;
  };
}

/** What a service serves of the committed distributions of a resolved forecast. */
export interface ServedDistributions extends Record<'predictionId' | 'date' | 'horizon' | 'attestationUid' | 'resolutionUid', string> {
  sequence: number;
  /** Exact text. */
  metadata: string;
  openings: readonly { name: string; role: string; modelVersion: string; salt: string; quantilesMicro: readonly number[] }[];
  missing: readonly { name: string; role: string; reason: string }[];
  realised: number | null;
  scores: readonly ({ name: string; modelVersion: string } & GridScores)[];
  comparisons: readonly { challenger: string; against: string; limit: number; difference: number }[];
}

/** What a service claims of the evidence for or against a challenger over one horizon. */
export interface ClaimedChallenge
  extends Record<'challenger' | 'against' | 'verdict', string>,
    Record<'horizonDays' | 'days' | 'eBetter' | 'eWorse' | 'maxBetter' | 'maxWorse', number> {
  /** `YYYY-MM-DD`; null while nothing is proven. */
  since: string | null;
}

/** Predictions of the wallet in a search around a forecast. */
export interface RivalSearch {
  committed: readonly Prediction[];
  /** Time of the first block that was searched, and of the newest block of the chain. */
  since: Date;
  newest: Date;
  /** The limit on predictions that was exceeded, in which case none was read. */
  tooMany?: number;
}

export type RivalEvidence = RivalSearch | Unread;

/** Evidence about one forecast. What is undefined was not looked for, and is not checked. */
export interface ForecastEvidence {
  /** Without a uid: its attestation is not known. */
  prediction: AttestationEvidence<'prediction'> | { sequence: number; day: Day | null; horizonDays: number | null; windowOpensAt: Date };
  resolutions: readonly AttestationEvidence<'resolution'>[];
  /** How its resolutions were searched, unread: up to where; undefined: only the one that the service names was read. */
  search?: 'complete' | Unread;
  /** The prediction that it has to refer to; null: there is none. */
  previous?: AttestationEvidence<'prediction'> | null;
  rivals?: RivalEvidence;
  /** The published bytes. */
  metadata?: Uint8Array | Unread;
  /** Salt and values that the service returns before they are on chain. */
  opening?: CommitmentOpening | Unread;
  prices?: PriceEvidence | Unread;
  /** What the service serves of its distributions once it is resolved; null: nothing. */
  distributions?: ServedDistributions | Unread | null;
  /** What the service has recorded, in units of the chain. */
  recorded?: { prediction: Reference & PredictionData; resolution: (Reference & ResolutionData) | null; isVoid: boolean };
  /** What the service shows. */
  claimed?: ListedClaim;
}

/** What every check gets. */
export interface CheckContext {
  attester: Address;
  now: Date;
}

export function isUnread(evidence: object | null | undefined): evidence is Unread {
  return evidence != null && 'problem' in evidence;
}

/** EAS numbers identical attestations of one block with a bump. */
const MAX_EQUAL_ATTESTATIONS = 64;

/** Uid of an attestation by EAS 1.x. @param bump number of identical attestations before it in its block */
export function deriveAttestationUid(raw: Omit<RawAttestation, 'uid' | 'revocationTime'>, bump = 0): Hex {
  const { schema, recipient, attester, time, expirationTime, revocable, refUID, data } = raw;
  return keccak256(
    encodePacked(
      ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'],
      [schema, recipient, attester, time, expirationTime, revocable, refUID, data, bump],
    ),
  );
}

/** The own uid if it is the digest of the content, otherwise that digest; a reason for content that cannot be hashed. */
export function describeUid(raw: RawAttestation): string {
  try {
    for (let bump = 0; bump < MAX_EQUAL_ATTESTATIONS; bump++) if (deriveAttestationUid(raw, bump) === raw.uid.toLowerCase()) return raw.uid;
    return deriveAttestationUid(raw);
  } catch (error) {
    return `none: ${getErrorMessage(error).split('\n')[0]}`;
  }
}

/** CID version 1, codec raw, sha2-256, 32 bytes. */
const PREFIX = '0x01551220';
/** RFC 4648, lower case, without padding. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_PER_CHARACTER = 5;

/** CIDv1 in base32 of a sha2-256 digest. */
export function encodeCid(digest: Hex): string {
  const bits = [...hexToBytes(concatHex([PREFIX, digest]))].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(new RegExp(`.{1,${BITS_PER_CHARACTER}}`, 'g')) ?? [];
  return `b${groups.map((group) => BASE32[Number.parseInt(group.padEnd(BITS_PER_CHARACTER, '0'), 2)]).join('')}`;
}
