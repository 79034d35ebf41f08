import type { Address, Hex } from 'viem';

/** Where a role's wallet signs. `address`: the expected one. */
export type SignerSource =
  | { kind: 'key'; privateKey: Hex; address?: Address }
  | { kind: 'kms'; keyId: string; address?: Address }
  | { kind: 'web3signer'; url: string; address: Address };

/** ARN, https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html: `arn:<partition>:kms:<region>:<account>:key/<id>`. */
export function getArnRegion(keyId: string): string | undefined {
  return /^arn:[^:]+:kms:([^:]+):/.exec(keyId)?.[1];
}
