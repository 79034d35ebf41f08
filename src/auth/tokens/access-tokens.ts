import { type CryptoKey, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Address } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import { MAX_CLOCK_SKEW_MS } from '../../platform/time/trusted-time.ts';
import type { PaidTier } from '../tiers/tiers.ts';
import { TOKEN_ALGORITHM, TOKEN_LIFETIME_SECONDS, type TokenKeyStore } from './token-key-store.ts';

/** RFC 9068. */
const TOKEN_TYPE = 'at+jwt';
const TOKEN_AUDIENCE = 'bitcoin-signal-oracle';
const MAX_TOKEN_LENGTH = 2_048;

export interface AccessTokenContent {
  sessionId: string;
  wallet: Address;
  tier: PaidTier;
}

export interface AccessTokensOptions {
  keys: TokenKeyStore;
  /** The agent's on-chain identity, which outlives any URL. */
  issuer: string;
  now(): Date;
}

/** Session tokens: EdDSA JWTs valid for 30 minutes. A token proves a session; its entitlement is in the database. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  async issue({ sessionId, wallet, tier }: AccessTokenContent): Promise<{ token: string; expiresAt: Date }> {
    const { keys, issuer, now } = this.#options;
    const { kid, privateKey } = await keys.getSigningKey();
    const issuedAtSeconds = Math.floor(now().getTime() / 1_000);
    const expiresAtSeconds = issuedAtSeconds + TOKEN_LIFETIME_SECONDS;
    const token = await new SignJWT({ tier })
      .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: TOKEN_TYPE, kid })
      .setIssuer(issuer)
      .setAudience(TOKEN_AUDIENCE)
      .setSubject(wallet)
      .setJti(sessionId)
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(expiresAtSeconds)
      .sign(privateKey);
    return { token, expiresAt: new Date(expiresAtSeconds * 1_000) };
  }

  /** @throws OracleError UNAUTHENTICATED with the reason */
  async verify(token: string): Promise<Pick<AccessTokenContent, 'sessionId' | 'wallet'>> {
    const kid = readKeyId(token);
    const key = await this.#options.keys.findVerificationKey(kid);
    if (key === null) throw unauthenticated('The access token was signed with a key that is not in use here');
    const { jti, sub, iat } = await this.#verifyPayload(token, key);
    this.#requireIssuedByNow(iat);
    if (typeof jti !== 'string' || typeof sub !== 'string') throw unauthenticated('The access token names no session');
    return { sessionId: jti, wallet: sub as Address };
  }

  /** A token issued by a clock that ran ahead would be valid for as much longer. */
  #requireIssuedByNow(issuedAtSeconds: number | undefined): void {
    if (issuedAtSeconds !== undefined && issuedAtSeconds * 1_000 <= this.#options.now().getTime() + MAX_CLOCK_SKEW_MS) return;
    throw unauthenticated('The access token has no valid "iat"');
  }

  async #verifyPayload(token: string, key: CryptoKey): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [TOKEN_ALGORITHM],
        typ: TOKEN_TYPE,
        issuer: this.#options.issuer,
        audience: TOKEN_AUDIENCE,
        requiredClaims: ['exp', 'jti', 'sub'],
        currentDate: this.#options.now(),
      });
      return payload;
    } catch (error) {
      throw toUnauthenticated(error);
    }
  }
}

/** `WWW-Authenticate` for a request whose token was rejected (RFC 6750, section 3). */
export const REJECTED_TOKEN_CHALLENGE = 'Bearer realm="oracle", error="invalid_token"';

/** @throws OracleError UNAUTHENTICATED */
export function parseBearerToken(authorization: string): string {
  const token = findBearerToken(authorization);
  if (token === undefined) throw unauthenticated('The Authorization header must be "Bearer <token>"');
  return token;
}

export function findBearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

export function unauthenticated(problem: string, cause?: unknown): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field: 'Authorization',
    suggestedAction: 'Log in again: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>.',
    cause,
  });
}

/** Key id in the header. The header is not verified yet and only selects one of the service's own keys. */
function readKeyId(token: string): string {
  const { alg, kid } = parseTokenHeader(token);
  if (alg !== TOKEN_ALGORITHM) throw unauthenticated(`The access token is not signed with ${TOKEN_ALGORITHM}`);
  if (typeof kid !== 'string') throw unauthenticated('The access token does not name its key');
  return kid;
}

function parseTokenHeader(token: string): { alg?: string; kid?: string } {
  try {
    if (token.length > MAX_TOKEN_LENGTH) throw new Error('too long');
    return decodeProtectedHeader(token);
  } catch {
    throw unauthenticated('The access token cannot be read');
  }
}

function toUnauthenticated(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return unauthenticated('The access token has expired');
  if (error instanceof errors.JWSSignatureVerificationFailed) return unauthenticated('The signature of the access token is wrong');
  if (error instanceof errors.JWTClaimValidationFailed) return unauthenticated(formatClaimProblem(error.claim));
  if (error instanceof errors.JOSEError) return unauthenticated('The access token cannot be read');
  return error;
}

/** Reached only after the signature has been verified. */
function formatClaimProblem(claim: string): string {
  if (claim === 'iss') return 'The access token was issued by another service';
  if (claim === 'aud') return 'The access token is meant for another service';
  if (claim === 'typ') return 'The token is not an access token';
  return `The access token has no valid "${claim}"`;
}
