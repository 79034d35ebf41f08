import { randomBytes } from 'node:crypto';
import { getCaip2Network, type MerchantConfig } from '../../merchant-config.ts';

/**
 * Extension of x402: a wallet that has paid proves itself by a signed message (CAIP-122) and gets its answer again.
 * https://github.com/x402-foundation/x402/blob/main/specs/extensions/sign-in-with-x.md
 */
export const SIGN_IN_WITH_X = 'sign-in-with-x';

/** Fields of the message that the wallet signs, besides its address. */
export interface SignInChallenge {
  domain: string;
  uri: string;
  version: '1';
  nonce: string;
  /** ISO 8601. */
  issuedAt: string;
  /** ISO 8601. */
  expirationTime: string;
  statement: string;
  /** CAIP-2. */
  chainId: string;
}

const CHALLENGE_VALID_MS = 5 * 60_000;
const NONCE_BYTES = 16;

/** A challenge with a nonce of its own. Nothing is stored: a nonce is recorded when it is used. */
export function createSignInChallenge(merchant: MerchantConfig, uri: string, now: Date): SignInChallenge {
  return {
    domain: new URL(merchant.publicUrl).host,
    uri,
    version: '1',
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
    issuedAt: now.toISOString(),
    expirationTime: new Date(now.getTime() + CHALLENGE_VALID_MS).toISOString(),
    statement: 'Prove that this wallet has paid, to get the answer again.',
    chainId: getCaip2Network(merchant),
  };
}
