import { setTimeout as delay } from 'node:timers/promises';
import { type CryptoKey, importJWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { type SigningKey, type SigningKeyDoc, SigningKeyStore } from './signing-key-store.ts';

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

export type TokenSigningKey = SigningKey;

export interface TokenKeyStoreOptions {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
  /** Minimum milliseconds between two reloads for an unknown `kid`: bounds the database load of clients that invent key ids. */
  minReloadMs?: number;
}

/** Token lifetime plus a minute for the signing itself and for clock skew. */
const RETIREMENT_MS = (TOKEN_LIFETIME_SECONDS + 60) * 1_000;

/** Age at which a process reloads its keys, to see revocations of other processes. */
const RELOAD_INTERVAL_MS = 60_000;

const MIN_RELOAD_MS = 1_000;

/** Signing keys of session tokens: one active, earlier ones until their last token has expired. */
export class TokenKeyStore {
  readonly #keys: Collection<SigningKeyDoc<TokenJwk>>;
  readonly #store: SigningKeyStore<TokenJwk>;
  readonly #now: () => Date;
  #trusted = new Map<string, CryptoKey>();
  readonly #minReloadMs: number;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #lastReloadMs = Number.NEGATIVE_INFINITY;
  #reloading: Promise<void> | undefined;

  constructor({ db, secretBox, now, minReloadMs = MIN_RELOAD_MS }: TokenKeyStoreOptions) {
    this.#keys = db.collection('token_keys');
    this.#now = now;
    this.#minReloadMs = minReloadMs;
    this.#store = new SigningKeyStore(
      {
        algorithm: TOKEN_ALGORITHM,
        purpose: 'token-signing-key',
        generateOptions: { crv: 'Ed25519' },
        retirementMs: RETIREMENT_MS,
        toPublicJwk: ({ x }, kid) => ({ kty: 'OKP', crv: 'Ed25519', x: x!, kid, alg: TOKEN_ALGORITHM, use: 'sig' }),
      },
      { keys: this.#keys, secretBox, now },
    );
  }

  /**
   * The active key, created when there is none. Read on each call, so that no process signs with a key that another has revoked.
   * @throws OracleError CONFIG_INVALID when it was sealed under another secret
   */
  getSigningKey(): Promise<TokenSigningKey> {
    return this.#store.getSigningKey();
  }

  /** The public key of a `kid`, or null when it is not trusted. Finds a key that another process has just created. */
  async findVerificationKey(kid: string): Promise<CryptoKey | null> {
    if (!this.#trusted.has(kid) || this.#now().getTime() - this.#loadedAtMs > RELOAD_INTERVAL_MS) await this.#reload();
    return this.#trusted.get(kid) ?? null;
  }

  /** Public keys of valid tokens, the active one first. */
  async listPublicKeys(): Promise<TokenJwk[]> {
    return (await this.#store.listInUse()).map(({ publicJwk }) => publicJwk);
  }

  /**
   * Activates a new key. Tokens of earlier keys stay valid until they expire; with `revoke` they become invalid at once here, and within
   * a minute in other processes.
   */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string; revokedKids: string[] }> {
    const { kid, _id } = await this.#store.createNext();
    if (!revoke) return { kid, revokedKids: [] };
    const earlier = { _id: { $lt: _id }, revokedAt: null };
    const revokedKids = (await this.#keys.find(earlier).toArray()).map((key) => key.kid);
    await this.#keys.updateMany(earlier, { $set: { revokedAt: this.#now() } });
    await this.#load();
    return { kid, revokedKids };
  }

  /** Deletes revoked and retired keys. */
  async purge(): Promise<void> {
    const kept = (await this.#store.listInUse()).map(({ _id }) => _id);
    // Only below the newest kept number, so that a key created meanwhile survives.
    if (kept.length > 0) await this.#keys.deleteMany({ _id: { $nin: kept, $lt: kept[0] } });
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
    const loadedAtMs = this.#now().getTime();
    const jwks = await this.listPublicKeys();
    this.#trusted = new Map(
      await Promise.all(jwks.map(async (jwk) => [jwk.kid, (await importJWK(jwk, TOKEN_ALGORITHM)) as CryptoKey] as const)),
    );
    this.#loadedAtMs = loadedAtMs;
  }
}
