import type { CryptoKey } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { createSealedKeyPair, insertKey, type KeyUse, openSealedKey } from './sealed-key-pair.ts';

/** Another one than that of session tokens: neither passes for the other. */
export const CARD_ALGORITHM = 'ES256';

/** How long a key is published after its successor was made: whoever keeps a card can check it for that long. */
export const CARD_KEY_RETIREMENT_DAYS = 30;

const RETIREMENT_MS = CARD_KEY_RETIREMENT_DAYS * 86_400_000;

/** As it is published (RFC 7517). */
export interface CardJwk {
  kty: 'EC';
  crv: 'P-256';
  /** base64url. */
  x: string;
  y: string;
  kid: string;
  alg: typeof CARD_ALGORITHM;
  use: 'sig';
}

/** A key that agent cards are signed with. The one with the highest number signs. */
export interface CardKeyDoc {
  /** Counts from 1; see `NumberedKey`. */
  _id: number;
  kid: string;
  publicJwk: CardJwk;
  /** The private JWK, sealed for this `kid`. */
  sealedPrivateJwk: string;
  createdAt: Date;
  /** Set when nothing that it has signed may be believed any more. */
  revokedAt?: Date;
}

export interface CardSigningKey {
  kid: string;
  privateKey: CryptoKey;
}

export interface CardKeyStoreOptions {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
}

const KEY_USE: KeyUse = { algorithm: CARD_ALGORITHM, purpose: 'agent-card-key' };

/** The keys of the agent card, shared by all processes through the store. */
export class CardKeyStore {
  readonly #keys: Collection<CardKeyDoc>;
  readonly #secretBox: SecretBox;
  readonly #now: () => Date;

  constructor({ db, secretBox, now }: CardKeyStoreOptions) {
    this.#keys = db.collection('card_keys');
    this.#secretBox = secretBox;
    this.#now = now;
  }

  /** The key to sign with, made when there is none yet. @throws OracleError CONFIG_INVALID when it was sealed under another secret. */
  async getSigningKey(): Promise<CardSigningKey> {
    const key = (await this.#findNewest()) ?? (await this.#insertKey(1));
    return { kid: key.kid, privateKey: await openSealedKey(KEY_USE, key, this.#secretBox) };
  }

  /** Public keys that a card may be signed with, the active one first. */
  async listPublicKeys(): Promise<CardJwk[]> {
    const keys = await this.#keys.find({}, { sort: { _id: -1 } }).toArray();
    const oldest = this.#now().getTime() - RETIREMENT_MS;
    const isInUse = (index: number) => index === 0 || keys[index - 1]!.createdAt.getTime() > oldest;
    return keys.filter(({ revokedAt }, index) => revokedAt === undefined && isInUse(index)).map(({ publicJwk }) => publicJwk);
  }

  /** Makes a new key active; cards that are signed with earlier ones can be checked until those are retired, or with `revoke` never more. */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string }> {
    const { kid, _id } = await this.#insertKey(((await this.#findNewest())?._id ?? 0) + 1);
    if (revoke) await this.#keys.updateMany({ _id: { $lt: _id } }, { $set: { revokedAt: this.#now() } });
    return { kid };
  }

  #findNewest(): Promise<CardKeyDoc | null> {
    return this.#keys.findOne({}, { sort: { _id: -1 } });
  }

  async #insertKey(number: number): Promise<CardKeyDoc> {
    return insertKey(this.#keys, await this.#createKey(number));
  }

  async #createKey(number: number): Promise<CardKeyDoc> {
    const { jwk, kid, sealedPrivateJwk } = await createSealedKeyPair(KEY_USE, this.#secretBox);
    const publicJwk: CardJwk = { kty: 'EC', crv: 'P-256', x: jwk.x!, y: jwk.y!, kid, alg: CARD_ALGORITHM, use: 'sig' };
    return { _id: number, kid, publicJwk, sealedPrivateJwk, createdAt: this.#now() };
  }
}
