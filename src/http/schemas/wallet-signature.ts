import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { requireWithinLoginWindow, toTimestampMs } from '../../auth/login-message.ts';
import { OracleError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';

interface SignedMessage {
  /** The signed text (EIP-191), with the timestamp as sent; of several spellings of it, any one may be signed. */
  message: string | string[];
  /** The same with placeholders, for the error. */
  template: string;
  wallet: Address;
  /** Unix time in seconds or milliseconds. */
  timestamp: number;
  signature: Hex;
}

/** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CHAIN_UNREACHABLE */
export async function requireWalletSignature({ commerce, now }: Pick<HttpDeps, 'commerce' | 'now'>, signed: SignedMessage): Promise<void> {
  const { message, template, wallet, timestamp, signature } = signed;
  requireWithinLoginWindow(toTimestampMs(timestamp), now(), 'timestamp');
  if (await commerce.isSignedBy({ wallet: getAddress(wallet), hash: [message].flat().map((text) => hashMessage(text)), signature })) return;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not of this wallet over this message', {
    field: 'signature',
    suggestedAction: `Sign \`${template}\` with this wallet.`,
  });
}
