import { type Address, getAddress } from 'viem';
import { z } from 'zod';
import { MAX_SIGNATURE_BYTES } from '../../../../chain/verify-signature.ts';

const WALLET_META = {
  description: 'Wallet address; in mixed case its EIP-55 checksum must be valid',
  override: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
} as const;

/** An address in the spelling of the caller; in mixed case the EIP-55 checksum must be valid. */
export const rawWalletInput = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'must be an address: 0x and 40 hex characters', abort: true })
  .refine(hasValidChecksum, 'has an invalid EIP-55 checksum')
  .transform((text) => text as Address)
  .meta(WALLET_META);

export const walletInput = rawWalletInput.transform((text) => getAddress(text)).meta(WALLET_META);

/** An ECDSA signature has 65 bytes, an EIP-1271 or ERC-6492 signature any length. */
export const signatureInput = z
  .string()
  .max(2 + 2 * MAX_SIGNATURE_BYTES, `must have at most ${MAX_SIGNATURE_BYTES} bytes`)
  .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and an even number of hex characters')
  .transform((text) => text as `0x${string}`)
  .meta({
    description: 'Signature as hex: of an EOA (EIP-191), a contract wallet (EIP-1271), or an undeployed one (ERC-6492)',
    override: { type: 'string', pattern: '^0x([0-9a-fA-F]{2})+$', maxLength: 2 + 2 * MAX_SIGNATURE_BYTES },
  });

function hasValidChecksum(text: string): boolean {
  const digits = text.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || getAddress(text.toLowerCase()) === text;
}
