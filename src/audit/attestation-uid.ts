import { encodePacked, type Hex, keccak256 } from 'viem';
import type { RawAttestation } from './chain.ts';

/** Equal attestations of one block are told apart by a number. */
const MOST_ALIKE = 64;

/** Uid of an attestation as EAS 1.x makes it of all that it says. @param bump how many equal ones came before it in its block */
export function uidOf(raw: Omit<RawAttestation, 'uid' | 'revocationTime'>, bump = 0): Hex {
  const { schema, recipient, attester, time, expirationTime, revocable, refUID, data } = raw;
  return keccak256(
    encodePacked(
      ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'],
      [schema, recipient, attester, time, expirationTime, revocable, refUID, data, bump],
    ),
  );
}

/** Whether a uid is that of this content. */
export function isUidOf(uid: Hex, raw: RawAttestation): boolean {
  for (let bump = 0; bump < MOST_ALIKE; bump++) if (uidOf(raw, bump) === uid.toLowerCase()) return true;
  return false;
}
