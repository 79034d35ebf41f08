import { zeroHash } from 'viem';
import { getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { describeUid } from '../decode/attestation-uid.ts';
import { type ContentOf, decodeContent } from '../decode/decode-content.ts';
import { type Attestation, type AttestationEvidence, type CheckContext, isUnread } from '../evidence.ts';
import { type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';
import { formatInstant } from '../format-instant.ts';

/** Clocks of a chain and of a verifier differ by seconds. */
const CLOCK_TOLERANCE_MS = 300_000;

/**
 * Checks all that holds for any attestation of the record. Never throws: content that cannot be hashed or decoded fails.
 * @returns its decoded content, or null when nothing further can be checked
 */
export function checkAttestation<Schema extends SchemaName>(
  { uid, schema, content, blockAt }: AttestationEvidence<Schema>,
  { attester, now }: CheckContext,
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
  const isOurs = checkForm(content, { subject, schema, attester }, findings);
  const at = checkBlockTime(content, { subject, blockAt, now }, findings);
  if (!isOurs || at === null) return null;
  const decoded = decodeContent(schema, content.data);
  if ('wrong' in decoded) {
    findings.fail('data', subject, decoded.wrong);
    return null;
  }
  findings.compare('data', subject, { field: 'data', expected: 'readable', actual: 'readable' });
  return { uid, at, refUid: content.refUID, data: decoded.data };
}

/** Checks everything but the data. A revocable attestation is no commitment. */
function checkForm(
  content: RawAttestation,
  { subject, schema, attester }: { subject: FindingSubject; schema: SchemaName; attester: string },
  findings: Findings,
): boolean {
  const { uid, expirationTime, revocable, revocationTime } = content;
  const because = 'the uid does not match the content';
  const expires = expirationTime === 0n ? '0' : `${expirationTime} (${typeof expirationTime})`;
  return [
    findings.compare('uid', subject, { field: 'content', expected: uid, actual: describeUid(content), because }),
    findings.compare('schema', subject, { field: 'schemaName', expected: getSchemaUid(schema), actual: content.schema }),
    findings.compare('attester', subject, { field: 'attester', expected: attester, actual: content.attester }),
    findings.compare('permanent', subject, { field: 'revoked', expected: false, actual: revocable !== false || revocationTime !== 0n }),
    findings.compare('permanent', subject, { field: 'expirationTime', expected: '0', actual: expires }),
  ].every(Boolean);
}

/** The time of the block is authoritative: a contract can store any time. */
function checkBlockTime(
  { time }: RawAttestation,
  { subject, blockAt, now }: { subject: FindingSubject; blockAt: AttestationEvidence['blockAt']; now: Date },
  findings: Findings,
): Date | null {
  const stored = new Date(Number(time) * 1000);
  const field = 'blockTime';
  if (isUnread(blockAt)) {
    findings.fail('blockTime', subject, {
      field,
      expected: `an event at ${formatInstant(stored)}`,
      actual: null,
      because: blockAt.problem,
    });
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
