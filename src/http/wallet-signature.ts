import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { requireInWindow, timestampMs } from '../access/login-message.ts';
import { OracleError } from '../errors.ts';
import type { HttpParts } from './parts.ts';

/** A message that a wallet has signed at a time. */
export interface SignedMessage {
  /** The text (EIP-191), with the timestamp as it was sent. */
  message: string;
  /** The same with placeholders, for whoever got it wrong. */
  form: string;
  wallet: Address;
  /** Unix time in seconds or milliseconds. */
  timestamp: number;
  signature: Hex;
}

/** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CHAIN_UNREACHABLE */
export async function requireSignature({ commerce, now }: Pick<HttpParts, 'commerce' | 'now'>, signed: SignedMessage): Promise<void> {
  const { message, form, wallet, timestamp, signature } = signed;
  requireInWindow(timestampMs(timestamp), now(), 'timestamp');
  if (await commerce.isSignedBy({ wallet: getAddress(wallet), hash: hashMessage(message), signature })) return;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not one of this wallet over this message', {
    field: 'signature',
    suggestedAction: `Sign \`${form}\` with this wallet.`,
  });
}
