import { encodePacked, type Hex, keccak256 } from 'viem';
import type { RawAttestation } from '../chain/eas/raw-attestation.ts';
import { getErrorMessage } from '../platform/errors.ts';

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
