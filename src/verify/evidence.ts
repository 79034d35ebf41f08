import { type Address, concatHex, encodePacked, type Hex, hexToBytes, keccak256, zeroHash } from 'viem';
import type { CommitmentOpening, PredictionData, RawAttestation, ResolutionData, SchemaName } from '../chain/eas/schemas.ts';
import * as schemas from '../chain/eas/schemas.ts';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { type Day, toInstantMs } from '../forecast/day.ts';
import type { GridScores } from '../forecast/distribution.ts';
import { type FindingSubject, type Findings, formatInstant, formatSubject, NO_SUBJECT } from './findings.ts';

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
  /** Undefined: of a service that does not know them. */
  moveSize?: string | null | undefined;
  pBig?: number | null | undefined;
}

/** A scorecard of a service, with all its rows and figures. */
export interface ClaimedScorecard extends Partial<Record<'stats' | 'statistics', Record<string, unknown> | undefined>> {
  summary: Record<string, unknown>;
  byHorizon?: { horizon: string; [figure: string]: unknown }[] | undefined;
  predictions: ClaimedRow[];
  [figure: string]: unknown;
}

/** The size of the move as a row shows it. */
export type ShownMove = Pick<ClaimedRow, 'moveSize' | 'pBig'>;

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
  /** Null: the forecast has no size of the move; undefined: of a service that does not know it. */
  move?:
    | { moveSize: string | null; pBig: number | null; big: boolean; references: Readonly<Record<string, number | null>> }
    | null
    | undefined;
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
interface RivalSearch {
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
  recorded?: { prediction: Reference & PredictionData; resolution: (Reference & ResolutionData) | null; isVoid: boolean; move: ShownMove };
  /** The row of a list of the service. */
  claimed?: ListedClaim;
  /** The row that the scorecard of the service has for it; null: none. */
  shown?: ClaimedRow | Unread | null;
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
function describeUid(raw: RawAttestation): string {
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

export function toSubject({ uid, data: { horizonDays, day, sequence } }: Prediction): FindingSubject {
  return { attestation: 'prediction', horizonDays, day, sequence, uid };
}

export function toResolutionSubject(prediction: Prediction): FindingSubject {
  return { ...toSubject(prediction), attestation: 'resolution' };
}

/** Zero commitment: nothing was forecast. */
export function isMissedPrediction({ data }: Prediction): boolean {
  return data.commitment === zeroHash;
}

/** Not on chain before its window opened. */
export function isLatePrediction({ at, data }: Prediction): boolean {
  return at >= data.windowOpensAt;
}

/** The days whose closes decide a forecast: the day before its window, and the window's last day. */
export function getCloseDays({ data: { day, horizonDays } }: Prediction): { from: Day; to: Day } {
  return { from: day, to: day + horizonDays };
}

/** The outcome window follows from day and horizon, so that the compared closes cannot be chosen later. */
export function checkWindow(prediction: Prediction, findings: Findings): void {
  const { day, horizonDays, windowOpensAt, resolvesAt } = prediction.data;
  const subject = toSubject(prediction);
  const compare = (field: string, expected: number, actual: Date) =>
    findings.compare('windows', subject, { field, expected: formatInstant(expected), actual: formatInstant(actual) });
  compare('windowOpensAt', toInstantMs(day + 1), windowOpensAt);
  compare('resolvesAt', toInstantMs(day + 1 + horizonDays), resolvesAt);
  if (prediction.at.getTime() >= toInstantMs(day)) return;
  findings.note(`${formatSubject(subject)}: attested at ${formatInstant(prediction.at)}, before its day had begun`);
}

/** @param claimedVoid what the record says of it; undefined: nothing is claimed, and a late prediction is void */
export function checkInTime(prediction: Prediction, claimedVoid: boolean | undefined, findings: Findings): void {
  if (isMissedPrediction(prediction)) return;
  const subject = toSubject(prediction);
  const [actual, opens] = [formatInstant(prediction.at), formatInstant(prediction.data.windowOpensAt)];
  const isLate = isLatePrediction(prediction);
  const because = `its block is of ${actual}, its window opened at ${opens}`;
  if (claimedVoid === undefined && isLate) {
    findings.leave('inTime', subject, `${because}: it is void and never counts`, false);
    return;
  }
  const rule = claimedVoid === true ? `void: not before ${opens}` : `before ${opens}`;
  const expected = isLate === (claimedVoid ?? false) ? actual : rule;
  findings.compare('inTime', subject, { field: 'time', expected, actual, because });
}

/** @param before the prediction of the day before; undefined: there is none that fits */
export function checkLink(prediction: Prediction, before: Prediction | undefined, findings: Findings): void {
  const { data, refUid } = prediction;
  const [subject, field, number] = [toSubject(prediction), 'refUid', data.sequence - 1];
  if (number > 0 && before === undefined) {
    const because = `it does not refer to a forecast with sequence ${number} over ${data.horizonDays} days of this attester`;
    findings.fail('link', subject, { field, expected: `sequence ${number}`, actual: refUid === zeroHash ? null : refUid, because });
    return;
  }
  const because = before === undefined ? 'the first forecast has a reference' : 'it does not refer to the previous forecast';
  findings.compare('link', subject, { field, expected: before?.uid ?? zeroHash, actual: refUid, because });
}

/** An attester that commits to both directions and reveals the winning one has forecast nothing. @param rivals for its day and horizon */
export function checkOnePrediction(prediction: Prediction, rivals: readonly Prediction[], findings: Findings): void {
  const uids = [...new Set([prediction, ...rivals].map(({ uid }) => uid))];
  const because = `committed ${uids.length} times for one day and horizon, which leaves open which one counts: ${uids.join(', ')}`;
  findings.compare('onePrediction', toSubject(prediction), { field: 'commitments', expected: 1, actual: uids.length, because });
}

/** Checks a search for other predictions. Late ones count for nothing, unless all are late. */
export function checkRivals(prediction: Prediction, { committed, since, newest, tooMany }: RivalSearch, findings: Findings): void {
  const leave = (because: string) => findings.leave('onePrediction', toSubject(prediction), because, false);
  const { windowOpensAt, day, horizonDays } = prediction.data;
  const isLate = isLatePrediction(prediction);
  const alike = committed.filter(({ data }) => data.day === day && data.horizonDays === horizonDays);
  const inTime = alike.filter(({ at }) => at < windowOpensAt);
  if (tooMany !== undefined) {
    const because = 'the wallet made too many predictions around this day to read each';
    const counts = { field: 'commitments', expected: `at most ${tooMany}`, actual: `more than ${tooMany}` };
    findings.compare('onePrediction', toSubject(prediction), { ...counts, because });
  } else if (inTime.length === 0 && prediction.at >= since && !isLate) leave('the endpoint omits this prediction from its list');
  else {
    checkOnePrediction(prediction, isLate && inTime.length === 0 ? alike : inTime, findings);
    if (newest < windowOpensAt) leave(`another one may come before its window opens: the newest block is from ${formatInstant(newest)}`);
  }
}

/** Clocks of a chain and of a verifier differ by seconds. */
const CLOCK_TOLERANCE_MS = 300_000;
/** Larger numbers of a day or a sequence have no valid date. */
const MAX_RECORD_NUMBER = 200_000;

type ContentOf = { prediction: schemas.PredictionData; resolution: schemas.ResolutionData };
type Codecs = { [Schema in keyof ContentOf]: { decode(data: Hex): ContentOf[Schema]; encode(content: ContentOf[Schema]): Hex } };

const CODECS: Codecs = {
  prediction: { decode: schemas.decodePrediction, encode: schemas.encodePrediction },
  resolution: { decode: schemas.decodeResolution, encode: schemas.encodeResolution },
};

/**
 * Checks all that holds for any attestation of the record. Never throws: content that cannot be hashed or decoded fails.
 * @returns its decoded content, or null when nothing further can be checked
 */
export function checkAttestation<Schema extends schemas.SchemaName>(
  { uid, schema, content, blockAt }: AttestationEvidence<Schema>,
  context: CheckContext,
  findings: Findings,
): Attestation<ContentOf[Schema]> | null {
  const subject: FindingSubject = { ...NO_SUBJECT, attestation: schema, uid };
  if (isUnread(content)) {
    findings.doubt('found', subject, content.problem);
    return null;
  }
  const because = `the chain has no ${schema} of this uid by this attester`;
  const found = content === null || content.uid === zeroHash ? null : content.uid;
  if (!findings.compare('found', subject, { field: 'uid', expected: uid, actual: found, because }) || content === null) return null;
  const known = { schema, blockAt, subject, ...context };
  const isOurs = checkForm(content, known, findings);
  const at = checkBlockTime(content, known, findings);
  if (!isOurs || at === null) return null;
  const readable = { field: 'data', expected: 'readable', actual: 'readable' };
  try {
    const data = decodeContent(schema, content.data);
    findings.compare('data', subject, readable);
    return { uid, at, refUid: content.refUID, data };
  } catch (error) {
    const field = (isOracleError(error) ? error.field : undefined) ?? 'data';
    findings.fail('data', subject, { ...readable, field, actual: 'unreadable', because: getErrorMessage(error) });
    return null;
  }
}

type Known = Pick<AttestationEvidence, 'schema' | 'blockAt'> & CheckContext & { subject: FindingSubject };

/** Checks everything but the data. A revocable attestation is no commitment. */
function checkForm(content: schemas.RawAttestation, { subject, schema, attester }: Known, findings: Findings): boolean {
  const { uid, expirationTime, revocable, revocationTime } = content;
  const because = 'the uid does not match the content';
  const expires = expirationTime === 0n ? '0' : `${expirationTime} (${typeof expirationTime})`;
  return [
    findings.compare('uid', subject, { field: 'content', expected: uid, actual: describeUid(content), because }),
    findings.compare('schema', subject, { field: 'schemaName', expected: schemas.getSchemaUid(schema), actual: content.schema }),
    findings.compare('attester', subject, { field: 'attester', expected: attester, actual: content.attester }),
    findings.compare('permanent', subject, { field: 'revoked', expected: false, actual: revocable !== false || revocationTime !== 0n }),
    findings.compare('permanent', subject, { field: 'expirationTime', expected: '0', actual: expires }),
  ].every(Boolean);
}

/** The time of the block is authoritative: a contract can store any time. */
function checkBlockTime({ time }: schemas.RawAttestation, { subject, blockAt, now }: Known, findings: Findings): Date | null {
  const [field, stored] = ['blockTime', new Date(Number(time) * 1000)];
  const at = blockAt === null || isUnread(blockAt) ? stored : blockAt;
  if (!(at.getTime() <= now.getTime() + CLOCK_TOLERANCE_MS)) {
    const because = `it is dated ${formatInstant(at)}, after the ${formatInstant(now)} of this check: a clock is wrong`;
    findings.leave('blockTime', subject, because);
  }
  if (blockAt === null) return at;
  if (isUnread(blockAt)) {
    findings.doubt('blockTime', subject, blockAt.problem);
    return at;
  }
  const because = 'the stored time differs from the block time';
  findings.compare('blockTime', subject, { field, expected: formatInstant(blockAt), actual: formatInstant(stored), because });
  return at;
}

/** Decodes strictly: only the canonical encoding is accepted, so that surplus or dirty bytes are noticed. @throws OracleError */
function decodeContent<Schema extends schemas.SchemaName>(schema: Schema, data: Hex): ContentOf[Schema] {
  const { decode, encode } = CODECS[schema];
  const content = decode(data);
  for (const [field, value] of Object.entries(content)) {
    if (!['day', 'sequence'].includes(field) || (value >= 1 && value <= MAX_RECORD_NUMBER)) continue;
    throw new OracleError('ATTESTATION_MISMATCH', `${field} ${value} is not possible in a record`, { field });
  }
  if (encode(content) === data.toLowerCase()) return content;
  throw new OracleError('ATTESTATION_MISMATCH', `its data has more than a ${schema}`);
}

/** A model version as the attested metadata of a day lists it. */
export interface CommittedModel {
  name: string;
  role: string;
  modelVersion: string | null;
  /** Null with distributions. */
  missingBecause: string | null;
  /** Digests by horizon, such as `7d`; null: it has none of the day. */
  distributions: Readonly<Record<string, string>> | null;
}

/** The models of a day's metadata; `none` for a day before distributions were committed. */
export function parseCommittedModels(metadata: string): CommittedModel[] | 'none' | 'unreadable' {
  try {
    const { models } = JSON.parse(metadata) as { models?: unknown };
    if (models === undefined) return 'none';
    if (!Array.isArray(models) || models.length === 0) return 'unreadable';
    const parsed = models.map(parseModel);
    const isDistinct = new Set(parsed.map((model) => model?.name)).size === parsed.length;
    return isDistinct && parsed.every((model) => model !== null) ? parsed : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function parseModel(model: unknown): CommittedModel | null {
  const { name, role, modelVersion, missingBecause = null, distributions } = model as Record<string, unknown>;
  const isNamed = typeof name === 'string' && typeof role === 'string' && isTextOrNull(modelVersion) && isTextOrNull(missingBecause);
  if (!isNamed || typeof distributions !== 'object') return null;
  if (distributions !== null && !Object.values(distributions).every((digest) => typeof digest === 'string')) return null;
  return { name, role, modelVersion, missingBecause, distributions: distributions as CommittedModel['distributions'] };
}

const isTextOrNull = (value: unknown) => value === null || typeof value === 'string';
