import { computeSchemaUid, isUidOfContent } from '../chain/eas.js';

/** @import { CheckList } from './check-list.js' */
/** @import { Attestation } from '../chain/eas.js' */

/**
 * Checks that apply to every attestation of the service.
 * @param {CheckList} list @param {Attestation | null} attestation null when the chain has none
 * @param {{ uid: string, attester: string, schema: 'prediction' | 'resolution' }} expected
 * @returns {Attestation | null} null when nothing further can be compared
 */
export function checkAttestationForm(list, attestation, { uid, attester, schema }) {
  const expectedUid = uid.toLowerCase();
  const found = attestation?.uid ?? null;
  if (!list.add('attestation', 'The chain has the attestation that the row names.', { expected: expectedUid, actual: found })) return null;
  const { attester: by, schema: schemaFound, revocable, revocationTime, expirationTime } = /** @type {Attestation} */ (attestation);
  const changed = !isUidOfContent(/** @type {Attestation} */ (attestation));
  list.add('content', 'Its uid is the digest of what it says: nothing in it was changed.', {
    expected: 'the digest of its content',
    actual: changed ? 'the digest of something else' : 'the digest of its content',
  });
  list.add('attester', 'It was made by the wallet that the service names as its own.', { expected: attester.toLowerCase(), actual: by });
  list.add('schema', 'Its schema is the one that this page knows, without a resolver.', {
    expected: computeSchemaUid(schema),
    actual: schemaFound,
  });
  const withdrawn = revocable || revocationTime !== 0 || expirationTime !== 0;
  list.add('revocation', 'It was not revoked, cannot be, and does not expire.', {
    expected: 'for good',
    actual: withdrawn ? 'revocable, revoked or expiring' : 'for good',
  });
  return attestation;
}

/** Decoded data; null adds a failed comparison. @template Data @param {CheckList} list @param {() => Data} decode @returns {Data | null} */
export function decodeChecked(list, decode) {
  try {
    return decode();
  } catch (error) {
    const actual = /** @type {Error} */ (error).message;
    list.add('data', 'What it says can be read by its schema.', { expected: 'readable', actual });
    return null;
  }
}
