import { randomBytes } from 'node:crypto';
import { OracleError } from '../../errors.ts';

/** Bytes of a generated secret; Standard Webhooks wants 24 to 64. */
const GENERATED_BYTES = 32;
export const FEWEST_BYTES = 24;
export const LONGEST_SECRET = 256;
const PREFIX = 'whsec_';

/** What a secret of the caller's own may be, in words. */
export const SECRET_RULE = `${PREFIX} and base64 of at least ${FEWEST_BYTES} bytes, or any other text of at least ${FEWEST_BYTES} bytes without control characters; at most ${LONGEST_SECRET} characters`;

/** A new secret: `whsec_` and base64 of 32 random bytes, as Standard Webhooks writes them. */
export function generateSecret(): string {
  return PREFIX + randomBytes(GENERATED_BYTES).toString('base64');
}

/**
 * The key that deliveries are signed with: the bytes in a `whsec_` secret, otherwise those of the text.
 * @throws OracleError INPUT_INVALID for one that is too short, too long or malformed; it never repeats the secret.
 */
export function secretKey(secret: string): Buffer {
  const key = secret.length > LONGEST_SECRET ? null : secret.startsWith(PREFIX) ? decoded(secret.slice(PREFIX.length)) : plain(secret);
  if (key !== null && key.length >= FEWEST_BYTES) return key;
  throw new OracleError('INPUT_INVALID', `The secret must be ${SECRET_RULE}`, {
    field: 'secret',
    suggestedAction: 'Leave "secret" out to get one that is made for you.',
  });
}

function decoded(base64: string): Buffer | null {
  const key = Buffer.from(base64, 'base64');
  return key.toString('base64').replace(/=+$/, '') === base64.replace(/={1,2}$/, '') ? key : null;
}

function plain(secret: string): Buffer | null {
  return /\p{Cc}|\p{Cs}/u.test(secret) ? null : Buffer.from(secret);
}
