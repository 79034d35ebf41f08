import { randomBytes } from 'node:crypto';
import { OracleError } from '../../errors.ts';

/** Shorter keys could be found by brute force from a signature. */
export const MIN_SECRET_BYTES = 16;
export const MAX_SECRET_LENGTH = 256;
const SECRET_PREFIX = 'whsec_';

export const SECRET_RULE = `${SECRET_PREFIX} and base64 of at least ${MIN_SECRET_BYTES} bytes, or any other text of at least ${MIN_SECRET_BYTES} bytes without control characters; at most ${MAX_SECRET_LENGTH} characters`;

/** Of 32 bytes; Standard Webhooks recommends 24 to 64. */
export function generateSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}

/** @throws OracleError INPUT_INVALID for a short, long or malformed secret; suggests a generated one and does not contain the secret */
export function toSigningKey(secret: string): Buffer {
  const key = secret.startsWith(SECRET_PREFIX) ? decodeBase64Key(secret.slice(SECRET_PREFIX.length)) : encodeTextKey(secret);
  if (key !== null && key.length >= MIN_SECRET_BYTES && secret.length <= MAX_SECRET_LENGTH) return key;
  const suggestion = generateSecret();
  throw new OracleError('INPUT_INVALID', `The secret must be ${SECRET_RULE}`, {
    field: 'secret',
    suggestedAction: `Send ${suggestion}, which was generated for this answer and is stored nowhere, or leave "secret" out.`,
    details: { suggestion },
  });
}

/** The key of any secret in the form that every Standard Webhooks library takes: libraries read other texts as base64, or not at all. */
export function toVerificationKey(secret: string): string {
  return SECRET_PREFIX + toSigningKey(secret).toString('base64');
}

function decodeBase64Key(base64: string): Buffer | null {
  const key = Buffer.from(base64, 'base64');
  return key.toString('base64').replace(/=+$/, '') === base64.replace(/={1,2}$/, '') ? key : null;
}

function encodeTextKey(secret: string): Buffer | null {
  return /\p{Cc}|\p{Cs}/u.test(secret) ? null : Buffer.from(secret);
}
