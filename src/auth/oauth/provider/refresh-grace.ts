import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { KoaContextWithOIDC, errors as providerErrors } from 'oidc-provider';
import { type CollectionIndexes, isDuplicateKey } from '../../../platform/mongo.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { ArtifactStore } from '../stores/artifact-store.ts';

/** Within which a repeated refresh gets the same tokens: assistants refresh twice at once, and lose answers. */
export const REFRESH_GRACE_MS = 60_000;
/** A refresh takes less: its process has died. Measured by the database's clock. */
const LEASE_MS = 10_000;
const POLL_MS = 50;

interface ReplyDoc {
  /** SHA-256 of the refresh token that was exchanged. */
  _id: string;
  clientId: string;
  /** Identifies the request that exchanges it. */
  holder: string;
  heldUntil: Date;
  /** When the holder began, by its own clock, as the consumption of the token is dated. */
  since: Date;
  /** The token response, encrypted, bound to client and token; null until it is there. */
  sealed: string | null;
  expiresAt: Date;
}

const COLLECTION = 'oauth_refresh_replies';

export const REFRESH_REPLY_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

interface RefreshReplyStoreDeps {
  db: Db;
  artifacts: ArtifactStore;
  secretBox: SecretBox;
  now(): Date;
}

/** What is to be done with a refresh: `exchange` as its holder, leave it to the provider's own judgement, wait, or repeat the answer. */
type Admission = { do: 'exchange'; holder: string } | { do: 'judge' } | { do: 'wait' } | { do: 'repeat'; body: unknown };

/** Answers to refreshes, kept for their grace. Tokens are stored as hashes, so that the provider itself could not repeat them. */
export class RefreshReplyStore {
  readonly #replies: Collection<ReplyDoc>;
  readonly #deps: Omit<RefreshReplyStoreDeps, 'db'>;

  constructor({ db, ...deps }: RefreshReplyStoreDeps) {
    this.#replies = db.collection(COLLECTION);
    this.#deps = deps;
  }

  async admit(token: string, clientId: string): Promise<Admission> {
    const _id = toKey(token);
    const holder = randomUUID();
    if (await this.#insert(_id, clientId, holder)) return { do: 'exchange', holder };
    const found = await this.#replies.findOne({ _id });
    if (found === null) return { do: 'wait' };
    if (found.clientId !== clientId) return { do: 'judge' };
    if (found.sealed !== null) return found.expiresAt <= this.#deps.now() ? { do: 'judge' } : { do: 'repeat', body: this.#open(found) };
    if (!(await this.#takeOver(found, holder))) return { do: 'wait' };
    // The tokens of the dead process were not sent: no client has them.
    await this.#deps.artifacts.restore('RefreshToken', token, found.since);
    return { do: 'exchange', holder };
  }

  async keep(token: string, clientId: string, holder: string, body: unknown): Promise<void> {
    const _id = toKey(token);
    const sealed = this.#deps.secretBox.seal('oauth-token-response', `${clientId}:${_id}`, JSON.stringify(body));
    const expiresAt = new Date(this.#deps.now().getTime() + REFRESH_GRACE_MS);
    await this.#replies.updateOne({ _id, holder }, { $set: { sealed, expiresAt } });
  }

  /** The exchange has failed, and nothing was sent: what it consumed can be exchanged again. */
  async release(token: string, holder: string): Promise<void> {
    const _id = toKey(token);
    const held = await this.#replies.findOne({ _id, holder, sealed: null });
    if (held === null) return;
    await this.#deps.artifacts.restore('RefreshToken', token, held.since);
    await this.#replies.deleteOne({ _id, holder, sealed: null });
  }

  async purge(now: Date): Promise<void> {
    await this.#replies.deleteMany({ expiresAt: { $lte: now } });
  }

  async #insert(_id: string, clientId: string, holder: string): Promise<boolean> {
    const since = this.#deps.now();
    const fields = { clientId, holder, since, sealed: null, expiresAt: new Date(since.getTime() + REFRESH_GRACE_MS) };
    try {
      // The holder is new: the filter matches no other document. Only updates can use the clock of the database.
      await this.#replies.updateOne({ _id, holder }, [{ $set: { ...fields, heldUntil: LEASE_END } }], { upsert: true });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #takeOver({ _id, holder: dead }: ReplyDoc, holder: string): Promise<boolean> {
    const abandoned = { _id, holder: dead, sealed: null, $expr: { $lt: ['$heldUntil', '$$NOW'] } };
    const { modifiedCount } = await this.#replies.updateOne(abandoned, [
      { $set: { holder, since: this.#deps.now(), heldUntil: LEASE_END } },
    ]);
    return modifiedCount === 1;
  }

  #open({ _id, clientId, sealed }: ReplyDoc): unknown {
    return JSON.parse(this.#deps.secretBox.open('oauth-token-response', `${clientId}:${_id}`, sealed!));
  }
}

const LEASE_END = { $add: ['$$NOW', LEASE_MS] };

/**
 * Exchanges a refresh token once; a repetition by the same client, which the provider has authenticated, gets the same answer while the
 * grace lasts. Any later use is the provider's to judge: it ends the grant.
 */
export async function answerRefresh(
  replies: RefreshReplyStore,
  errors: typeof providerErrors,
  context: KoaContextWithOIDC,
  exchange: () => unknown,
): Promise<void> {
  const { client, params } = context.oidc;
  const token = params?.refresh_token;
  if (typeof token !== 'string' || client === undefined) return void (await exchange());
  const exchangeAs = async (holder: string) => {
    try {
      await exchange();
    } catch (error) {
      await replies.release(token, holder);
      throw error;
    }
    await replies.keep(token, client.clientId, holder, context.body);
  };
  const giveUpAt = performance.now() + LEASE_MS;
  for (;;) {
    const admission = await replies.admit(token, client.clientId);
    if (admission.do === 'judge') return void (await exchange());
    if (admission.do === 'repeat') {
      context.body = admission.body;
      return;
    }
    if (admission.do === 'exchange') return exchangeAs(admission.holder);
    if (performance.now() > giveUpAt) throw new errors.TemporarilyUnavailable('the token is being refreshed by another request, try again');
    await delay(POLL_MS);
  }
}

function toKey(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
