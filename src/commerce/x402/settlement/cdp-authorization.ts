import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { OracleError } from '../../../platform/errors.ts';
import { parseApiKeySecret } from '../../../platform/secrets/api-key.ts';
import type { AuthorizeRequest } from './facilitator-endpoint.ts';

/** Longest validity that CDP accepts. */
const VALID_SECONDS = 120;

export interface CdpKey {
  id: string;
  secret: string;
  now(): Date;
}

/** Bearer tokens of the Coinbase Developer Platform, one a request, as `generateJwt` of `@coinbase/cdp-sdk` signs them. */
export function createCdpAuthorization({ id, secret, now }: CdpKey): AuthorizeRequest {
  const signing = parseApiKeySecret(secret);
  if (signing === null) throw new OracleError('CONFIG_INVALID', 'CDP_API_KEY_SECRET cannot be used', { field: 'CDP_API_KEY_SECRET' });
  const { key, algorithm } = signing;
  return async (method, url) => {
    const { host, pathname } = new URL(url);
    const seconds = Math.floor(now().getTime() / 1_000);
    const token = await new SignJWT({ uris: [`${method} ${host}${pathname}`] })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: id, nonce: randomBytes(16).toString('hex') })
      .setIssuer('cdp')
      .setSubject(id)
      .setIssuedAt(seconds)
      .setNotBefore(seconds)
      .setExpirationTime(seconds + VALID_SECONDS)
      .sign(key);
    return { authorization: `Bearer ${token}` };
  };
}
