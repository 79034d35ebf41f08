import { createHash, randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import type { CollectionIndexes } from '../platform/mongo.ts';
import { confirmIfUncertain } from '../platform/retry.ts';
import type { PaidTier } from './tiers.ts';

/** A code, token, interaction or replay mark. Its id is a secret in most cases, so the database has a digest of it alone. */
interface ArtifactDoc {
  /** `<kind>:<SHA-256 of the id>`. */
  _id: string;
  grantId: string | null;
  payload: Record<string, unknown>;
  consumedAt: Date | null;
  /** Identifies the request that consumed it. */
  consumedBy: string | null;
  expiresAt: Date;
}

export const ARTIFACT_INDEXES = [
  { collection: 'oauth_artifacts', indexes: [{ key: { grantId: 1 } }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** `consumed` is the time at which it was used, as `oidc-provider` reads it. */
export type ArtifactPayload = Record<string, unknown> & { consumed?: number };

export class ArtifactStore {
  readonly #artifacts: Collection<ArtifactDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#artifacts = db.collection('oauth_artifacts');
    this.#now = now;
  }

  async put(kind: string, id: string, { jti: _, ...payload }: ArtifactPayload, expiresAt: Date): Promise<void> {
    const grantId = typeof payload.grantId === 'string' ? payload.grantId : null;
    // What is consumed stays so when it is saved again.
    const update = { $set: { grantId, payload, expiresAt }, $setOnInsert: { consumedAt: null, consumedBy: null } };
    await this.#artifacts.updateOne({ _id: toKey(kind, id) }, update, { upsert: true });
  }

  /** Undefined for an unknown or expired one. */
  async find(kind: string, id: string): Promise<ArtifactPayload | undefined> {
    const found = await this.#artifacts.findOne({ _id: toKey(kind, id) });
    if (found === null || found.expiresAt <= this.#now()) return undefined;
    const { payload, consumedAt } = found;
    return { ...payload, jti: id, ...(consumedAt === null ? {} : { consumed: Math.floor(consumedAt.getTime() / 1_000) }) };
  }

  /** Whether this call consumed it: of concurrent calls, in any process, one does. */
  async consume(kind: string, id: string): Promise<boolean> {
    const filter = { _id: toKey(kind, id) };
    const consumedBy = randomUUID();
    const change = { $set: { consumedAt: this.#now(), consumedBy } };
    return confirmIfUncertain(
      async () => (await this.#artifacts.updateOne({ ...filter, consumedBy: null }, change)).modifiedCount === 1,
      async () => (await this.#artifacts.findOne({ ...filter, consumedBy })) && true,
    );
  }

  /** Takes back a consumption whose outcome is lost: nothing of it was sent. @param since it began; what was consumed before stays so */
  async restore(kind: string, id: string, since: Date): Promise<void> {
    const consumed = { _id: toKey(kind, id), consumedAt: { $gte: since } };
    await this.#artifacts.updateOne(consumed, { $set: { consumedAt: null, consumedBy: null } });
  }

  async delete(kind: string, id: string): Promise<void> {
    await this.#artifacts.deleteOne({ _id: toKey(kind, id) });
  }

  async deleteOfGrant(grantId: string): Promise<void> {
    await this.#artifacts.deleteMany({ grantId });
  }

  async purge(now: Date): Promise<void> {
    await this.#artifacts.deleteMany({ expiresAt: { $lte: now } });
  }
}

function toKey(kind: string, id: string): string {
  return `${kind}:${createHash('sha256').update(id).digest('base64url')}`;
}

/** What a wallet has allowed an application. */
interface GrantDoc {
  _id: string;
  wallet: Address;
  clientId: string;
  /** As `formatClientName` gives it. */
  name: string;
  tier: PaidTier;
  /** Of `oidc-provider`. */
  payload: Record<string, unknown>;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

const CLIENT_KEY = { clientId: 1 } as const;

export const GRANT_INDEXES = [
  { collection: 'oauth_grants', indexes: [{ key: { wallet: 1 } }, { key: CLIENT_KEY }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Later grants of a wallet end the ones that were not used for longest. */
export const MAX_GRANTS_PER_WALLET = 50;
const UNNAMED = 'an application';
/** Uses within this time are written once. */
const USE_PRECISION_MS = 60_000;

export class GrantStore {
  readonly #grants: Collection<GrantDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#grants = db.collection('oauth_grants');
    this.#now = now;
  }

  async put({ _id, createdAt, lastUsedAt, ...fields }: Omit<GrantDoc, 'name'>): Promise<void> {
    const begun = { createdAt, lastUsedAt, name: UNNAMED };
    await this.#grants.updateOne({ _id }, { $set: fields, $setOnInsert: begun }, { upsert: true });
  }

  /** As in the text that the wallet signed, before anything is issued under the grant. */
  async setName(_id: string, name: string): Promise<void> {
    await this.#grants.updateOne({ _id }, { $set: { name } });
  }

  /** Null for one that is unknown, expired or revoked. */
  async findLive(id: string): Promise<GrantDoc | null> {
    const grant = await this.#grants.findOne({ _id: id });
    return grant === null || grant.expiresAt <= this.#now() ? null : grant;
  }

  /** Whether any wallet allows a client. */
  async hasLive(clientId: string): Promise<boolean> {
    return (await this.#grants.countDocuments({ clientId, expiresAt: { $gt: this.#now() } }, { hint: CLIENT_KEY, limit: 1 })) > 0;
  }

  /** Newest first. */
  async listLive(wallet: Address): Promise<GrantDoc[]> {
    return this.#grants.find({ wallet, expiresAt: { $gt: this.#now() } }, { sort: { createdAt: -1 } }).toArray();
  }

  /** Ids of the grants that are too many for a wallet. */
  async listExcess(wallet: Address): Promise<string[]> {
    const grants = await this.listLive(wallet);
    const getLastUse = ({ lastUsedAt, createdAt }: GrantDoc) => (lastUsedAt ?? createdAt).getTime();
    const byUse = grants.toSorted((one, other) => getLastUse(other) - getLastUse(one));
    return byUse.slice(MAX_GRANTS_PER_WALLET).map(({ _id }) => _id);
  }

  async markUsed({ _id, lastUsedAt }: GrantDoc): Promise<void> {
    const now = this.#now();
    if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_PRECISION_MS) return;
    await this.#grants.updateOne({ _id }, { $max: { lastUsedAt: now } });
  }

  /** Whether there was one. @param wallet unset: of any wallet */
  async delete(id: string, wallet?: Address): Promise<boolean> {
    const { deletedCount } = await this.#grants.deleteOne({ _id: id, ...(wallet === undefined ? {} : { wallet }) });
    return deletedCount === 1;
  }

  async purge(now: Date): Promise<void> {
    await this.#grants.deleteMany({ expiresAt: { $lte: now } });
  }
}
