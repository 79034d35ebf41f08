import { setTimeout as delay } from 'node:timers/promises';
import { type CryptoKey, importJWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { SecretBox } from '../secret-box.ts';
import { addKey, type KeyUse, makeSealedPair, openSealedPair } from './sealed-keys.ts';

export const TOKEN_ALGORITHM = 'EdDSA';

/** How long a token is valid. */
export const TOKEN_LIFETIME_SECONDS = 30 * 60;

/** As it is published (RFC 7517). */
export interface PublicJwk {
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
  publicJwk: PublicJwk;
  /** The private JWK, sealed for this `kid`. */
  sealedPrivateJwk: string;
  createdAt: Date;
  /** Set when it must not be trusted any more, at once. */
  revokedAt: Date | null;
}

export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

export interface TokenKeysOptions {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
  /** Milliseconds between two looks for a key that is not known: whoever makes names up costs the database no more. */
  lookAgainMs?: number;
}

/** Between the choice of a key and the end of its last token: a signature takes a moment, clocks differ. */
const RETIREMENT_MS = (TOKEN_LIFETIME_SECONDS + 60) * 1_000;

/** After which a process looks for keys that another one has revoked. */
const RELOAD_MS = 60_000;

const LOOK_AGAIN_MS = 1_000;

const KEY_USE: KeyUse = { algorithm: TOKEN_ALGORITHM, purpose: 'token-signing-key', options: { crv: 'Ed25519' } };

/** The keys of session tokens: one active, earlier ones until their last token has expired. Shared by all processes through the store. */
export class TokenKeys {
  readonly #keys: Collection<TokenKeyDoc>;
  readonly #secretBox: SecretBox;
  readonly #now: () => Date;
  #trusted = new Map<string, CryptoKey>();
  readonly #lookAgainMs: number;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor({ db, secretBox, now, lookAgainMs = LOOK_AGAIN_MS }: TokenKeysOptions) {
    this.#keys = db.collection('token_keys');
    this.#secretBox = secretBox;
    this.#now = now;
    this.#lookAgainMs = lookAgainMs;
  }

  /** The key to sign with, made when there is none yet. @throws OracleError CONFIG_INVALID when it was sealed under another secret. */
  async signing(): Promise<SigningKey> {
    // Read each time, so that no process goes on signing with a key that another one has revoked.
    const key = (await this.#newest()) ?? (await this.#add(1));
    return { kid: key.kid, privateKey: await openSealedPair(KEY_USE, key, this.#secretBox) };
  }

  /** The public key of that name, or null where it is not trusted; one that another process has just made is found. */
  async verifying(kid: string): Promise<CryptoKey | null> {
    if (!this.#trusted.has(kid) || this.#now().getTime() - this.#loadedAtMs > RELOAD_MS) await this.#look();
    return this.#trusted.get(kid) ?? null;
  }

  /** Public keys that tokens may be checked with, the active one first. */
  async published(): Promise<PublicJwk[]> {
    return (await this.#inUse()).map(({ publicJwk }) => publicJwk);
  }

  /**
   * Makes a new key active. Tokens of earlier ones stay valid until they expire, or with `revoke` end at once here and within a
   * minute in other processes.
   */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string; revokedKids: string[] }> {
    const before = (await this.#newest())?._id ?? 0;
    const { kid, _id } = await this.#add(before + 1);
    if (!revoke) return { kid, revokedKids: [] };
    const earlier = { _id: { $lt: _id }, revokedAt: null };
    const revokedKids = (await this.#keys.find(earlier).toArray()).map((key) => key.kid);
    await this.#keys.updateMany(earlier, { $set: { revokedAt: this.#now() } });
    await this.#load();
    return { kid, revokedKids };
  }

  /** Deletes keys that nothing is checked with any more. */
  async purge(): Promise<void> {
    const kept = (await this.#inUse()).map(({ _id }) => _id);
    // Below the newest of them: one that is made meanwhile stays.
    if (kept.length > 0) await this.#keys.deleteMany({ _id: { $nin: kept, $lt: kept[0] } });
  }

  #newest(): Promise<TokenKeyDoc | null> {
    return this.#keys.findOne({}, { sort: { _id: -1 } });
  }

  async #add(number: number): Promise<TokenKeyDoc> {
    return addKey(this.#keys, await this.#make(number));
  }

  async #make(number: number): Promise<TokenKeyDoc> {
    const { jwk, kid, sealedPrivateJwk } = await makeSealedPair(KEY_USE, this.#secretBox);
    const publicJwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x: jwk.x!, kid, alg: TOKEN_ALGORITHM, use: 'sig' };
    return { _id: number, kid, publicJwk, sealedPrivateJwk, createdAt: this.#now(), revokedAt: null };
  }

  /** Newest first: neither revoked nor retired for so long that no token of theirs is left. */
  async #inUse(): Promise<TokenKeyDoc[]> {
    const keys = await this.#keys.find({}, { sort: { _id: -1 } }).toArray();
    const oldest = this.#now().getTime() - RETIREMENT_MS;
    return keys.filter(({ revokedAt }, index) => revokedAt === null && (index === 0 || keys[index - 1]!.createdAt.getTime() > oldest));
  }

  /** The next look at the store: all who wait share it, and those who come once it has begun wait for another. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookInTurn();
    return this.#looking;
  }

  async #lookInTurn(): Promise<void> {
    await delay(Math.max(0, this.#lookedMs + this.#lookAgainMs - performance.now()));
    this.#looking = undefined;
    this.#lookedMs = performance.now();
    await this.#load();
  }

  async #load(): Promise<void> {
    const loadedAtMs = this.#now().getTime();
    const docs = await this.#inUse();
    const read = async ({ kid, publicJwk }: TokenKeyDoc) => [kid, (await importJWK(publicJwk, TOKEN_ALGORITHM)) as CryptoKey] as const;
    this.#trusted = new Map(await Promise.all(docs.map(read)));
    this.#loadedAtMs = loadedAtMs;
  }
}
