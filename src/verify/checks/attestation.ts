import { type Hex, zeroHash } from 'viem';
import { getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { CheckId } from '../catalogue.ts';
import { deriveAttestationUid, matchesAttestationUid } from '../decode/attestation-uid.ts';
import { type ContentOf, decodeContent } from '../decode/decode-content.ts';
import { type Attestation, type AttestationEvidence, type CheckContext, isUnread } from '../evidence.ts';
import { type CheckedValue, type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';
import { formatInstant } from '../format-instant.ts';

/** Clocks of a chain and of a verifier differ by seconds. */
const CLOCK_TOLERANCE_MS = 300_000;

/**
 * Checks all that holds for any attestation of the record. Never throws: content that cannot be hashed or decoded fails.
 * @returns its decoded content, or null when nothing further can be checked
 */
export function checkAttestation<Schema extends SchemaName>(
  evidence: AttestationEvidence<Schema>,
  context: CheckContext,
  findings: Findings,
): Attestation<ContentOf[Schema]> | null {
  const { uid, schema, content, blockAt } = evidence;
  const subject: FindingSubject = { ...NO_SUBJECT, attestation: schema, uid };
  if (isUnread(content)) {
    findings.leave('found', subject, content.problem);
    return null;
  }
  const because = `the chain has no ${schema} of this uid by this attester`;
  const found = content === null || content.uid === zeroHash ? null : content.uid;
  if (!findings.compare('found', subject, { field: 'uid', expected: uid, actual: found, because }) || content === null) return null;
  const isOurs = checkForm(content, { subject, schema, attester: context.attester }, findings);
  const at = checkBlockTime(content, { subject, blockAt, now: context.now }, findings);
  const decoded = decodeContent(schema, content.data);
  if (!isOurs || at === null) return null;
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
  const compare = (check: CheckId, field: string, expected: CheckedValue, actual: CheckedValue, because?: string) =>
    findings.compare(check, subject, { field, expected, actual, ...(because === undefined ? {} : { because }) });
  return [
    compare('uid', 'content', content.uid, deriveUid(content), 'the uid does not match the content'),
    compare('schema', 'schemaName', getSchemaUid(schema), content.schema),
    compare('attester', 'attester', attester, content.attester),
    compare('permanent', 'revoked', false, content.revocable !== false || content.revocationTime !== 0n),
    compare(
      'permanent',
      'expirationTime',
      '0',
      content.expirationTime === 0n ? '0' : `${content.expirationTime} (${typeof content.expirationTime})`,
    ),
  ].every(Boolean);
}

function deriveUid(content: RawAttestation): Hex | string {
  try {
    return matchesAttestationUid(content.uid, content) ? content.uid : deriveAttestationUid(content);
  } catch (error) {
    return `none: ${getErrorMessage(error).split('\n')[0]}`;
  }
}

/** The time of the block is authoritative: a contract can store any time. */
function checkBlockTime(
  { time }: RawAttestation,
  { subject, blockAt, now }: { subject: FindingSubject; blockAt: AttestationEvidence['blockAt']; now: Date },
  findings: Findings,
): Date | null {
  const stored = new Date(Number(time) * 1000);
  if (isUnread(blockAt)) {
    const expected = `an event at ${formatInstant(stored)}`;
    findings.fail('blockTime', subject, { field: 'blockTime', expected, actual: null, because: blockAt.problem });
    return null;
  }
  const at = blockAt ?? stored;
  if (!(at.getTime() <= now.getTime() + CLOCK_TOLERANCE_MS)) {
    const because = `it is dated ${formatInstant(at)}, after the ${formatInstant(now)} of this check: a clock is wrong`;
    findings.leave('blockTime', subject, because);
  }
  if (blockAt !== null) {
    const because = 'the stored time differs from the block time';
    findings.compare('blockTime', subject, {
      field: 'blockTime',
      expected: formatInstant(blockAt),
      actual: formatInstant(stored),
      because,
    });
  }
  return at;
}
