import { type Attestation, computeSchemaUid, isUidOfContent } from '../chain/eas.ts';
import type { CheckList } from './check-list.ts';

/**
 * Checks that apply to every attestation of the service.
 * @param attestation null when the chain has none
 * @returns null when nothing further can be compared
 */
export function checkAttestationForm(
  list: CheckList,
  attestation: Attestation | null,
  { uid, attester, schema }: { uid: string; attester: string; schema: 'prediction' | 'resolution' },
): Attestation | null {
  const expectedUid = uid.toLowerCase();
  const found = attestation?.uid ?? null;
  if (!list.add('attestation', 'The attestation named by the row is on chain.', { expected: expectedUid, actual: found })) return null;
  const { attester: by, schema: schemaFound, revocable, revocationTime, expirationTime } = attestation as Attestation;
  const changed = !isUidOfContent(attestation as Attestation);
  list.add('content', 'Its uid is the digest of its content: nothing was changed.', {
    expected: 'the digest of its content',
    actual: changed ? 'the digest of something else' : 'the digest of its content',
  });
  list.add('attester', 'Its attester is the wallet that the service names.', { expected: attester.toLowerCase(), actual: by });
  list.add('schema', 'Its schema is the expected one, without a resolver.', {
    expected: computeSchemaUid(schema),
    actual: schemaFound,
  });
  const withdrawn = revocable || revocationTime !== 0 || expirationTime !== 0;
  list.add('revocation', 'It is not revoked or revocable and does not expire.', {
    expected: 'permanent',
    actual: withdrawn ? 'revocable, revoked or expiring' : 'permanent',
  });
  return attestation;
}

/** Decoded data; null adds a failed comparison. */
export function decodeChecked<Data>(list: CheckList, decode: () => Data): Data | null {
  try {
    return decode();
  } catch (error) {
    const actual = (error as Error).message;
    list.add('data', 'Its data can be decoded by its schema.', { expected: 'readable', actual });
    return null;
  }
}
