import { setTimeout as delay } from 'node:timers/promises';
import * as jose from 'jose';
import type { Collection, Db, Filter, OptionalUnlessRequiredId } from 'mongodb';
import type { Address } from 'viem';
import { OracleError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import { type CollectionIndexes, isFirstWrite } from '../platform/mongo.ts';
import type { SecretBox, SecretPurpose } from '../platform/secrets.ts';
import { MAX_CLOCK_SKEW_MS } from '../platform/time.ts';
import type { PaidTier } from './tiers.ts';

/** RFC 9068. */
const TOKEN_TYPE = 'at+jwt';
const TOKEN_AUDIENCE = 'bitcoin-signal-oracle';
const MAX_TOKEN_LENGTH = 2_048;

interface AccessTokensOptions {
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

  async issue({ sessionId, wallet, tier }: { sessionId: string; wallet: Address; tier: PaidTier }) {
    const { keys, issuer, now } = this.#options;
    const { kid, privateKey } = await keys.getSigningKey();
    const issuedAtSeconds = Math.floor(now().getTime() / 1_000);
    const expiresAtSeconds = issuedAtSeconds + TOKEN_LIFETIME_SECONDS;
    const token = await new jose.SignJWT({ tier })
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
  async verify(token: string): Promise<{ sessionId: string; wallet: Address }> {
    const kid = readKeyId(token);
    const key = await this.#options.keys.findVerificationKey(kid);
    if (key === null) throw unauthenticated('The access token was signed with a key that is not in use here');
    const { jti, sub, iat } = await this.#verifyPayload(token, key);
    // A token issued by a clock that ran ahead would be valid for as much longer.
    if (iat === undefined || iat * 1_000 > this.#options.now().getTime() + MAX_CLOCK_SKEW_MS) {
      throw unauthenticated(formatClaimProblem('iat'));
    }
    if (typeof jti !== 'string' || typeof sub !== 'string') throw unauthenticated('The access token names no session');
    return { sessionId: jti, wallet: sub as Address };
  }

  async #verifyPayload(token: string, key: jose.CryptoKey): Promise<jose.JWTPayload> {
    try {
      const { payload } = await jose.jwtVerify(token, key, {
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
  let header: jose.ProtectedHeaderParameters;
  try {
    if (token.length > MAX_TOKEN_LENGTH) throw new Error('too long');
    header = jose.decodeProtectedHeader(token);
  } catch {
    throw unauthenticated('The access token cannot be read');
  }
  if (header.alg !== TOKEN_ALGORITHM) throw unauthenticated(`The access token is not signed with ${TOKEN_ALGORITHM}`);
  if (typeof header.kid !== 'string') throw unauthenticated('The access token does not name its key');
  return header.kid;
}

function toUnauthenticated(error: unknown): unknown {
  if (error instanceof jose.errors.JWTExpired) return unauthenticated('The access token has expired');
  if (error instanceof jose.errors.JWSSignatureVerificationFailed) return unauthenticated('The signature of the access token is wrong');
  if (error instanceof jose.errors.JWTClaimValidationFailed) return unauthenticated(formatClaimProblem(error.claim));
  if (error instanceof jose.errors.JOSEError) return unauthenticated('The access token cannot be read');
  return error;
}

/** Reached only after the signature has been verified. */
function formatClaimProblem(claim: string): string {
  if (claim === 'iss') return 'The access token was issued by another service';
  if (claim === 'aud') return 'The access token is meant for another service';
  if (claim === 'typ') return 'The token is not an access token';
  return `The access token has no valid "${claim}"`;
}

/** A signing key in the database; the key with the highest number is active. All processes share them. */
interface SigningKeyDoc<PublicJwk> {
  /** Sequential from 1: when two processes create the next key at once, the unique id rejects one of them. */
  _id: number;
  kid: string;
  publicJwk: PublicJwk;
  /** The private JWK, sealed for this `kid`. */
  sealedPrivateJwk: string;
  createdAt: Date;
  /** Set to distrust all signatures of the key. */
  revokedAt?: Date | null;
}

export interface SigningKey {
  kid: string;
  privateKey: jose.CryptoKey;
}

interface SigningKeyOptions<PublicJwk> {
  algorithm: string;
  purpose: SecretPurpose;
  generateOptions?: jose.GenerateKeyPairOptions;
  /** For how long a key is still valid after its successor was created. */
  retirementMs: number;
  toPublicJwk(jwk: jose.JWK, kid: string): PublicJwk;
}

interface SigningKeyStoreDeps<PublicJwk> {
  keys: Collection<SigningKeyDoc<PublicJwk>>;
  secretBox: SecretBox;
  now(): Date;
}

class SigningKeyStore<PublicJwk> {
  readonly #options: SigningKeyOptions<PublicJwk>;
  protected readonly deps: SigningKeyStoreDeps<PublicJwk>;

  constructor(options: SigningKeyOptions<PublicJwk>, deps: SigningKeyStoreDeps<PublicJwk>) {
    this.#options = options;
    this.deps = deps;
  }

  /** The active key, created when there is none. @throws OracleError CONFIG_INVALID when it was sealed under another secret */
  async getSigningKey(): Promise<SigningKey> {
    const { kid, sealedPrivateJwk } = (await this.#findNewest()) ?? (await this.#insert(1));
    const jwk = JSON.parse(this.deps.secretBox.open(this.#options.purpose, kid, sealedPrivateJwk)) as jose.JWK;
    return { kid, privateKey: (await jose.importJWK(jwk, this.#options.algorithm)) as jose.CryptoKey };
  }

  async createNext(): Promise<SigningKeyDoc<PublicJwk>> {
    return this.#insert(((await this.#findNewest())?._id ?? 0) + 1);
  }

  /** Keys that are neither revoked nor retired, newest first. */
  async listInUse(): Promise<SigningKeyDoc<PublicJwk>[]> {
    const keys = await this.deps.keys.find({}, { sort: { _id: -1 } }).toArray();
    const oldest = this.deps.now().getTime() - this.#options.retirementMs;
    const isRetired = (index: number) => index > 0 && keys[index - 1]!.createdAt.getTime() <= oldest;
    return keys.filter(({ revokedAt }, index) => !revokedAt && !isRetired(index)) as SigningKeyDoc<PublicJwk>[];
  }

  /** Public keys of valid signatures, the active one first. */
  async listPublicKeys(): Promise<PublicJwk[]> {
    return (await this.listInUse()).map(({ publicJwk }) => publicJwk);
  }

  #findNewest() {
    return this.deps.keys.findOne({}, { sort: { _id: -1 } });
  }

  /** Inserts a new key, or returns the key that another process inserted under this number first. */
  async #insert(number: number): Promise<SigningKeyDoc<PublicJwk>> {
    const { keys, secretBox, now } = this.deps;
    const { algorithm, purpose, generateOptions, toPublicJwk } = this.#options;
    const { publicKey, privateKey } = await jose.generateKeyPair(algorithm, { ...generateOptions, extractable: true });
    const jwk = await jose.exportJWK(publicKey);
    const kid = await jose.calculateJwkThumbprint(jwk);
    const sealedPrivateJwk = secretBox.seal(purpose, kid, JSON.stringify(await jose.exportJWK(privateKey)));
    const doc = { _id: number, kid, publicJwk: toPublicJwk(jwk, kid), sealedPrivateJwk, createdAt: now(), revokedAt: null };
    if (await isFirstWrite(keys.insertOne(doc as OptionalUnlessRequiredId<SigningKeyDoc<PublicJwk>>))) return doc;
    return (await keys.findOne({ _id: number } as Filter<SigningKeyDoc<PublicJwk>>)) as SigningKeyDoc<PublicJwk>;
  }
}

const TOKEN_ALGORITHM = 'EdDSA';
export const TOKEN_LIFETIME_SECONDS = 30 * 60;

type TokenJwk = ReturnType<typeof toTokenJwk>;

/** Public JWK (RFC 7517). */
function toTokenJwk({ x }: jose.JWK, kid: string) {
  return { kty: 'OKP', crv: 'Ed25519', x: x!, kid, alg: TOKEN_ALGORITHM, use: 'sig' } as const;
}

interface TokenKeyStoreOptions extends Omit<SigningKeyStoreDeps<TokenJwk>, 'keys'> {
  db: Db;
  /** Minimum milliseconds between two reloads for an unknown `kid`: bounds the database load of clients that invent key ids. */
  minReloadMs?: number;
}

/** Token lifetime plus a minute for the signing itself and for clock skew. */
const RETIREMENT_MS = (TOKEN_LIFETIME_SECONDS + 60) * 1_000;
/** Age at which a process reloads its keys, to see revocations of other processes. */
const RELOAD_INTERVAL_MS = 60_000;
const MIN_RELOAD_MS = 1_000;

/** Signing keys of session tokens: one active, earlier ones until their last token has expired. */
export class TokenKeyStore extends SigningKeyStore<TokenJwk> {
  #trusted = new Map<string, jose.CryptoKey>();
  readonly #minReloadMs: number;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #lastReloadMs = Number.NEGATIVE_INFINITY;
  #reloading: Promise<void> | undefined;

  constructor({ db, secretBox, now, minReloadMs = MIN_RELOAD_MS }: TokenKeyStoreOptions) {
    const options: SigningKeyOptions<TokenJwk> = {
      algorithm: TOKEN_ALGORITHM,
      purpose: 'token-signing-key',
      generateOptions: { crv: 'Ed25519' },
      retirementMs: RETIREMENT_MS,
      toPublicJwk: toTokenJwk,
    };
    super(options, { keys: db.collection('token_keys'), secretBox, now });
    this.#minReloadMs = minReloadMs;
  }

  /** The public key of a `kid`, or null when it is not trusted. Finds a key that another process has just created. */
  async findVerificationKey(kid: string): Promise<jose.CryptoKey | null> {
    // Also after the clock has been set back: revoked keys must not stay trusted.
    const isOld = Math.abs(this.deps.now().getTime() - this.#loadedAtMs) > RELOAD_INTERVAL_MS;
    if (!this.#trusted.has(kid) || isOld) await this.#reload();
    return this.#trusted.get(kid) ?? null;
  }

  /** Tokens of earlier keys stay valid until they expire; with `revoke` they become invalid at once here, within a minute elsewhere. */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string; revokedKids: string[] }> {
    const { kid, _id } = await this.createNext();
    if (!revoke) return { kid, revokedKids: [] };
    const earlier = { _id: { $lt: _id }, revokedAt: null };
    const revokedKids = (await this.deps.keys.find(earlier).toArray()).map((key) => key.kid);
    await this.deps.keys.updateMany(earlier, { $set: { revokedAt: this.deps.now() } });
    await this.#load();
    return { kid, revokedKids };
  }

  async purge(): Promise<void> {
    const kept = (await this.listInUse()).map(({ _id }) => _id);
    // Only below the newest kept number, so that a key created meanwhile survives.
    if (kept.length > 0) await this.deps.keys.deleteMany({ _id: { $nin: kept, $lt: kept[0] } });
  }

  /** Concurrent callers share one pending reload; a caller that arrives after its read began waits for the next. */
  #reload(): Promise<void> {
    this.#reloading ??= this.#reloadThrottled();
    return this.#reloading;
  }

  async #reloadThrottled(): Promise<void> {
    await delay(Math.max(0, this.#lastReloadMs + this.#minReloadMs - performance.now()));
    this.#reloading = undefined;
    this.#lastReloadMs = performance.now();
    await this.#load();
  }

  async #load(): Promise<void> {
    const loadedAtMs = this.deps.now().getTime();
    const jwks = await this.listPublicKeys();
    this.#trusted = new Map(
      await Promise.all(jwks.map(async (jwk) => [jwk.kid, (await jose.importJWK(jwk, TOKEN_ALGORITHM)) as jose.CryptoKey] as const)),
    );
    this.#loadedAtMs = loadedAtMs;
  }
}

/** Differs from the algorithm of session tokens, so that neither signature verifies as the other. */
export const CARD_ALGORITHM = 'ES256';
/** For how long a key is published after its successor was created, so that verifiers can check stored cards. */
export const CARD_KEY_RETIREMENT_DAYS = 30;

type CardJwk = ReturnType<typeof toCardJwk>;

/** Public JWK (RFC 7517). */
function toCardJwk({ x, y }: jose.JWK, kid: string) {
  return { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, alg: CARD_ALGORITHM, use: 'sig' } as const;
}

export class CardKeyStore extends SigningKeyStore<CardJwk> {
  constructor({ db, secretBox, now }: Omit<SigningKeyStoreDeps<CardJwk>, 'keys'> & { db: Db }) {
    const options: SigningKeyOptions<CardJwk> = {
      algorithm: CARD_ALGORITHM,
      purpose: 'agent-card-key',
      retirementMs: CARD_KEY_RETIREMENT_DAYS * DAY_MS,
      toPublicJwk: toCardJwk,
    };
    super(options, { keys: db.collection('card_keys'), secretBox, now });
  }

  /** Activates a new key. Earlier keys stay valid until they retire, or with `revoke` become invalid at once. */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string }> {
    const { kid, _id } = await this.createNext();
    if (revoke) await this.deps.keys.updateMany({ _id: { $lt: _id } }, { $set: { revokedAt: this.deps.now() } });
    return { kid };
  }
}

export const SESSION_INDEXES = [{ collection: 'sessions', indexes: [{ key: { wallet: 1 } }] }] as const satisfies CollectionIndexes[];
