import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { OracleError } from '../errors.ts';

/** A secret encrypted for one purpose does not decrypt for another. */
export type SecretPurpose =
  | 'token-signing-key'
  | 'webhook-secret'
  | 'webhook-url'
  | 'agent-card-key'
  | 'a2a-push-credentials'
  | 'oauth-token-response';

/** Encryption of secrets at rest: AES-256-GCM with keys derived from one master secret. */
export interface SecretBox {
  /** Encrypts with a random nonce. `owner` is authenticated: only the same owner can decrypt. */
  seal(purpose: SecretPurpose, owner: string, plain: string): string;
  /** @throws OracleError CONFIG_INVALID for another master secret, purpose or owner, or a modified text */
  open(purpose: SecretPurpose, owner: string, sealed: string): string;
}

const FORMAT_VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param masterSecret at least 32 characters; without it nothing can be decrypted */
export function createSecretBox(masterSecret: string): SecretBox {
  const keyFor = (purpose: SecretPurpose) => Buffer.from(hkdfSync('sha256', masterSecret, '', `oracle/${FORMAT_VERSION}/${purpose}`, 32));
  return {
    seal(purpose, owner, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${FORMAT_VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open(purpose, owner, sealed) {
      try {
        const bytes = Buffer.from(sealed.slice(FORMAT_VERSION.length + 1), 'base64url');
        const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
        const cipher = createDecipheriv('aes-256-gcm', keyFor(purpose), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        cipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
        return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
      } catch (cause) {
        throw new OracleError('CONFIG_INVALID', 'Setting ENCRYPTION_SECRET: does not open what the database holds', {
          field: 'ENCRYPTION_SECRET',
          suggestedAction: 'Set ENCRYPTION_SECRET to what it was when the database was written.',
          cause,
        });
      }
    },
  };
}
