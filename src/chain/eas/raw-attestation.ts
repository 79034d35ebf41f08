import type { Address, Hex } from 'viem';

/** An attestation as the EAS contract returns it; times in seconds since 1970. */
export interface RawAttestation {
  uid: Hex;
  schema: Hex;
  time: bigint;
  expirationTime: bigint;
  revocationTime: bigint;
  refUID: Hex;
  recipient: Address;
  attester: Address;
  revocable: boolean;
  data: Hex;
}
