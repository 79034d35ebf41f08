import { setTimeout as delay } from 'node:timers/promises';
import { type CryptoKey, importJWK } from 'jose';
import type { Db } from 'mongodb';
import { type SigningKeyOptions, SigningKeyStore, type SigningKeyStoreDeps } from './signing-key-store.ts';

export const TOKEN_ALGORITHM = 'EdDSA';
export const TOKEN_LIFETIME_SECONDS = 30 * 60;

/** Public JWK (RFC 7517). */
export interface TokenJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  /** base64url. */
  x: string;
  kid: string;
  alg: typeof TOKEN_ALGORITHM;
  use: 'sig';
}

export interface TokenKeyStoreOptions extends Omit<SigningKeyStoreDeps<TokenJwk>, 'keys'> {
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
  #trusted = new Map<string, CryptoKey>();
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
      toPublicJwk: ({ x }, kid) => ({ kty: 'OKP', crv: 'Ed25519', x: x!, kid, alg: TOKEN_ALGORITHM, use: 'sig' }),
    };
    super(options, { keys: db.collection('token_keys'), secretBox, now });
    this.#minReloadMs = minReloadMs;
  }

  /** The public key of a `kid`, or null when it is not trusted. Finds a key that another process has just created. */
  async findVerificationKey(kid: string): Promise<CryptoKey | null> {
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
      await Promise.all(jwks.map(async (jwk) => [jwk.kid, (await importJWK(jwk, TOKEN_ALGORITHM)) as CryptoKey] as const)),
    );
    this.#loadedAtMs = loadedAtMs;
  }
}
