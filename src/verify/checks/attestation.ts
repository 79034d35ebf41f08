import { type Hex, zeroHash } from 'viem';
import * as schemas from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import { describeUid } from '../attestation-uid.ts';
import { type Attestation, type AttestationEvidence, type CheckContext, isUnread } from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant, NO_SUBJECT } from '../findings.ts';

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
    findings.leave('found', subject, content.problem);
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
function checkForm(content: RawAttestation, { subject, schema, attester }: Known, findings: Findings): boolean {
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
function checkBlockTime({ time }: RawAttestation, { subject, blockAt, now }: Known, findings: Findings): Date | null {
  const [field, stored] = ['blockTime', new Date(Number(time) * 1000)];
  if (isUnread(blockAt)) {
    const expected = `an event at ${formatInstant(stored)}`;
    findings.fail('blockTime', subject, { field, expected, actual: null, because: blockAt.problem });
    return null;
  }
  const at = blockAt ?? stored;
  if (!(at.getTime() <= now.getTime() + CLOCK_TOLERANCE_MS)) {
    const because = `it is dated ${formatInstant(at)}, after the ${formatInstant(now)} of this check: a clock is wrong`;
    findings.leave('blockTime', subject, because);
  }
  if (blockAt === null) return at;
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
