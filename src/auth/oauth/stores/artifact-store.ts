import { createHash, randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CollectionIndexes } from '../../../platform/mongo.ts';
import { confirmIfUncertain } from '../../../platform/uncertain-write.ts';

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
    const fields = { grantId, payload, expiresAt };
    // What is consumed stays so when it is saved again.
    const update = { $set: fields, $setOnInsert: { consumedAt: null, consumedBy: null } };
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
    await this.#artifacts.updateOne(
      { _id: toKey(kind, id), consumedAt: { $gte: since } },
      { $set: { consumedAt: null, consumedBy: null } },
    );
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
