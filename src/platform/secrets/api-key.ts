import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

export interface ApiSigningKey {
  key: KeyObject;
  algorithm: 'EdDSA' | 'ES256';
}

/** DER of an Ed25519 private key up to its 32 bytes (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const ED25519_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]{86}==$/;

/** The secret of a CDP API key: base64 of an Ed25519 seed and public key, or PEM of a P-256 key, also with `\n` for its line ends. Null for any other text. */
export function parseApiKeySecret(text: string): ApiSigningKey | null {
  return BASE64.test(text.trim()) ? parseEd25519(Buffer.from(text.trim(), 'base64')) : parsePem(text.replaceAll('\\n', '\n'));
}

function parseEd25519(bytes: Buffer): ApiSigningKey | null {
  if (bytes.length !== ED25519_BYTES) return null;
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, bytes.subarray(0, 32)]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'jwk' }).x;
  // Anything else of this length has no public key as its second half.
  return publicKey === bytes.subarray(32).toString('base64url') ? { key, algorithm: 'EdDSA' } : null;
}

function parsePem(text: string): ApiSigningKey | null {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? { key, algorithm: 'ES256' } : null;
  } catch {
    return null;
  }
}
