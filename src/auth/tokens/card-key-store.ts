import type { Collection, Db } from 'mongodb';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { type SigningKey, type SigningKeyDoc, SigningKeyStore } from './signing-key-store.ts';

/** Differs from the algorithm of session tokens, so that neither signature verifies as the other. */
export const CARD_ALGORITHM = 'ES256';

/** For how long a key is published after its successor was created, so that verifiers can check stored cards. */
export const CARD_KEY_RETIREMENT_DAYS = 30;

/** Public JWK (RFC 7517). */
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

export interface CardKeyStoreOptions {
  db: Db;
  secretBox: SecretBox;
  now(): Date;
}

/** Signing keys of the agent card. */
export class CardKeyStore {
  readonly #keys: Collection<SigningKeyDoc<CardJwk>>;
  readonly #store: SigningKeyStore<CardJwk>;
  readonly #now: () => Date;

  constructor({ db, secretBox, now }: CardKeyStoreOptions) {
    this.#keys = db.collection('card_keys');
    this.#now = now;
    this.#store = new SigningKeyStore(
      {
        algorithm: CARD_ALGORITHM,
        purpose: 'agent-card-key',
        retirementMs: CARD_KEY_RETIREMENT_DAYS * 86_400_000,
        toPublicJwk: ({ x, y }, kid) => ({ kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, alg: CARD_ALGORITHM, use: 'sig' }),
      },
      { keys: this.#keys, secretBox, now },
    );
  }

  /** The active key, created when there is none. @throws OracleError CONFIG_INVALID when it was sealed under another secret */
  getSigningKey(): Promise<SigningKey> {
    return this.#store.getSigningKey();
  }

  /** Public keys of valid card signatures, the active one first. */
  async listPublicKeys(): Promise<CardJwk[]> {
    return (await this.#store.listInUse()).map(({ publicJwk }) => publicJwk);
  }

  /** Activates a new key. Earlier keys stay valid until they retire, or with `revoke` become invalid at once. */
  async rotate({ revoke = false }: { revoke?: boolean } = {}): Promise<{ kid: string }> {
    const { kid, _id } = await this.#store.createNext();
    if (revoke) await this.#keys.updateMany({ _id: { $lt: _id } }, { $set: { revokedAt: this.#now() } });
    return { kid };
  }
}
