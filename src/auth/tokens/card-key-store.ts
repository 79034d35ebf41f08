import type { Db } from 'mongodb';
import { type SigningKeyOptions, SigningKeyStore, type SigningKeyStoreDeps } from './signing-key-store.ts';

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

export type CardKeyStoreOptions = Omit<SigningKeyStoreDeps<CardJwk>, 'keys'> & { db: Db };

export class CardKeyStore extends SigningKeyStore<CardJwk> {
  constructor({ db, secretBox, now }: CardKeyStoreOptions) {
    const options: SigningKeyOptions<CardJwk> = {
      algorithm: CARD_ALGORITHM,
      purpose: 'agent-card-key',
      retirementMs: CARD_KEY_RETIREMENT_DAYS * 86_400_000,
      toPublicJwk: ({ x, y }, kid) => ({ kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, alg: CARD_ALGORITHM, use: 'sig' }),
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
