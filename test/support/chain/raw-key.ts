import type { Hex } from 'viem';
import type { SignerSource } from '../../../src/chain/signers.ts';

/** The key of a signer of the local chain. */
export function rawKey(source: SignerSource | null): Hex {
  if (source?.kind !== 'key') throw new Error('the role has no key');
  return source.privateKey;
}
