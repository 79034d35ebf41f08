import { type Hex, zeroHash } from 'viem';
import * as schemas from '../../chain/eas/schemas.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../errors.ts';
import { type Day, toInstantMs } from '../../forecast/day.ts';
import {
  type Attestation,
  type AttestationEvidence,
  type CheckContext,
  describeUid,
  isUnread,
  type Prediction,
  type RivalSearch,
} from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant, formatSubject, NO_SUBJECT } from '../findings.ts';

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
