import { setTimeout as delay } from 'node:timers/promises';
import { type CryptoKey, importJWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { createSealedKeyPair, insertKey, type KeyUse, openSealedKey } from './sealed-key-pair.ts';

export const TOKEN_ALGORITHM = 'EdDSA';

/** How long a token is valid. */
export const TOKEN_LIFETIME_SECONDS = 30 * 60;

/** As it is published (RFC 7517). */
export interface TokenJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  /** base64url. */
  x: string;
  kid: string;
  alg: typeof TOKEN_ALGORITHM;
  use: 'sig';
}

/** A signing key. The one with the highest number signs; each is retired at the creation of the next. */
export interface TokenKeyDoc {
  /** Counts from 1; see `NumberedKey`. */
  _id: number;
  kid: string;
  publicJwk: TokenJwk;
  /** The private JWK, sealed for this `kid`. */
  sealedPrivateJwk: string;
  createdAt: Date;
  /** Set when it must not be trusted any more, at once. */
  revokedAt: Date | null;
}

export interface TokenSigningKey {
  kid: string;
  privateKey: CryptoKey;
}

export interface TokenKeyStoreOptions {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
  /** Milliseconds between two looks for a key that is not known: whoever makes names up costs the database no more. */
  minReloadMs?: number;
}

/** Between the choice of a key and the end of its last token: a signature takes a moment, clocks differ. */
const RETIREMENT_MS = (TOKEN_LIFETIME_SECONDS + 60) * 1_000;

/** After which a process looks for keys that another one has revoked. */
const RELOAD_INTERVAL_MS = 60_000;

const MIN_RELOAD_MS = 1_000;

const KEY_USE: KeyUse = { algorithm: TOKEN_ALGORITHM, purpose: 'token-signing-key', options: { crv: 'Ed25519' } };

/** The keys of session tokens: one active, earlier ones until their last token has expired. Shared by all processes through the store. */
export class TokenKeyStore {
  readonly #keys: Collection<TokenKeyDoc>;
  readonly #secretBox: SecretBox;
  readonly #now: () => Date;
  #trusted = new Map<string, CryptoKey>();
  readonly #minReloadMs: number;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #lastReloadMs = Number.NEGATIVE_INFINITY;
  #reloading: Promise<void> | undefined;

  constructor({ db, secretBox, now, minReloadMs = MIN_RELOAD_MS }: TokenKeyStoreOptions) {
    this.#keys = db.collection('token_keys');
    this.#secretBox = secretBox;
    this.#now = now;
    this.#minReloadMs = minReloadMs;
  }

  /** The key to sign with, made when there is none yet. @throws OracleError CONFIG_INVALID when it was sealed under another secret. */
  async getSigningKey(): Promise<TokenSigningKey> {
    // Read each time, so that no process goes on signing with a key that another one has revoked.
    const key = (await this.#findNewest()) ?? (await this.#insertKey(1));
    return { kid: key.kid, privateKey: await openSealedKey(KEY_USE, key, this.#secretBox) };
  }

  /** The public key of that name, or null where it is not trusted; one that another process has just made is found. */
  async findVerificationKey(kid: string): Promise<CryptoKey | null> {
    if (!this.#trusted.has(kid) || this.#now().getTime() - this.#loadedAtMs > RELOAD_INTERVAL_MS) await this.#reload();
    return this.#trusted.get(kid) ?? null;
  }

  /** Public keys that tokens may be checked with, the active one first. */
  async listPublicKeys(): Promise<TokenJwk[]> {
    return (await this.#listInUse()).map(({ publicJwk }) => publicJwk);
  }

  /**
   * Makes a new key active. Tokens of earlier ones stay valid until they expire, or with `revoke` end at once here and within a
   * minute in other processes.
   */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string; revokedKids: string[] }> {
    const before = (await this.#findNewest())?._id ?? 0;
    const { kid, _id } = await this.#insertKey(before + 1);
    if (!revoke) return { kid, revokedKids: [] };
    const earlier = { _id: { $lt: _id }, revokedAt: null };
    const revokedKids = (await this.#keys.find(earlier).toArray()).map((key) => key.kid);
    await this.#keys.updateMany(earlier, { $set: { revokedAt: this.#now() } });
    await this.#load();
    return { kid, revokedKids };
  }

  /** Deletes keys that nothing is checked with any more. */
  async purge(): Promise<void> {
    const kept = (await this.#listInUse()).map(({ _id }) => _id);
    // Below the newest of them: one that is made meanwhile stays.
    if (kept.length > 0) await this.#keys.deleteMany({ _id: { $nin: kept, $lt: kept[0] } });
  }

  #findNewest(): Promise<TokenKeyDoc | null> {
    return this.#keys.findOne({}, { sort: { _id: -1 } });
  }

  async #insertKey(number: number): Promise<TokenKeyDoc> {
    return insertKey(this.#keys, await this.#createKey(number));
  }

  async #createKey(number: number): Promise<TokenKeyDoc> {
    const { jwk, kid, sealedPrivateJwk } = await createSealedKeyPair(KEY_USE, this.#secretBox);
    const publicJwk: TokenJwk = { kty: 'OKP', crv: 'Ed25519', x: jwk.x!, kid, alg: TOKEN_ALGORITHM, use: 'sig' };
    return { _id: number, kid, publicJwk, sealedPrivateJwk, createdAt: this.#now(), revokedAt: null };
  }

  /** Newest first: neither revoked nor retired for so long that no token of theirs is left. */
  async #listInUse(): Promise<TokenKeyDoc[]> {
    const keys = await this.#keys.find({}, { sort: { _id: -1 } }).toArray();
    const oldest = this.#now().getTime() - RETIREMENT_MS;
    return keys.filter(({ revokedAt }, index) => revokedAt === null && (index === 0 || keys[index - 1]!.createdAt.getTime() > oldest));
  }

  /** The next look at the store: all who wait share it, and those who come once it has begun wait for another. */
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
    const docs = await this.#listInUse();
    const read = async ({ kid, publicJwk }: TokenKeyDoc) => [kid, (await importJWK(publicJwk, TOKEN_ALGORITHM)) as CryptoKey] as const;
    this.#trusted = new Map(await Promise.all(docs.map(read)));
    this.#loadedAtMs = loadedAtMs;
  }
}
