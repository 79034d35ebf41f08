import { type CryptoKey, calculateJwkThumbprint, exportJWK, type GenerateKeyPairOptions, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Collection, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { isFirstWrite } from '../../platform/mongo.ts';
import type { SecretBox, SecretPurpose } from '../../platform/secrets/secret-box.ts';

/** A signing key in the database; the key with the highest number is active. All processes share them. */
export interface SigningKeyDoc<PublicJwk> {
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
  privateKey: CryptoKey;
}

export interface SigningKeyOptions<PublicJwk> {
  algorithm: string;
  purpose: SecretPurpose;
  generateOptions?: GenerateKeyPairOptions;
  /** For how long a key is still valid after its successor was created. */
  retirementMs: number;
  toPublicJwk(jwk: JWK, kid: string): PublicJwk;
}

export interface SigningKeyStoreDeps<PublicJwk> {
  keys: Collection<SigningKeyDoc<PublicJwk>>;
  secretBox: SecretBox;
  now(): Date;
}

export class SigningKeyStore<PublicJwk> {
  readonly #options: SigningKeyOptions<PublicJwk>;
  protected readonly deps: SigningKeyStoreDeps<PublicJwk>;

  constructor(options: SigningKeyOptions<PublicJwk>, deps: SigningKeyStoreDeps<PublicJwk>) {
    this.#options = options;
    this.deps = deps;
  }

  /** The active key, created when there is none. @throws OracleError CONFIG_INVALID when it was sealed under another secret */
  async getSigningKey(): Promise<SigningKey> {
    const { kid, sealedPrivateJwk } = (await this.#findNewest()) ?? (await this.#insert(1));
    const jwk = JSON.parse(this.deps.secretBox.open(this.#options.purpose, kid, sealedPrivateJwk)) as JWK;
    return { kid, privateKey: (await importJWK(jwk, this.#options.algorithm)) as CryptoKey };
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
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { ...generateOptions, extractable: true });
    const jwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(jwk);
    const sealedPrivateJwk = secretBox.seal(purpose, kid, JSON.stringify(await exportJWK(privateKey)));
    const doc = { _id: number, kid, publicJwk: toPublicJwk(jwk, kid), sealedPrivateJwk, createdAt: now(), revokedAt: null };
    if (await isFirstWrite(keys.insertOne(doc as OptionalUnlessRequiredId<SigningKeyDoc<PublicJwk>>))) return doc;
    return (await keys.findOne({ _id: number } as Filter<SigningKeyDoc<PublicJwk>>)) as SigningKeyDoc<PublicJwk>;
  }
}
