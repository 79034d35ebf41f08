import type { Collection, Db } from 'mongodb';
import type { CollectionIndexes } from '../../../platform/mongo.ts';
import { insertFirst } from '../../../platform/uncertain-write.ts';

/** A client registered by RFC 7591. */
export interface ClientDoc {
  _id: string;
  metadata: Record<string, unknown>;
  registeredAt: Date;
  expiresAt: Date;
}

export const CLIENT_INDEXES = [
  { collection: 'oauth_clients', indexes: [{ key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Of a client without a grant: it registers again. */
export const UNUSED_CLIENT_LIFETIME_MS = 86_400_000;

export class ClientStore {
  readonly #clients: Collection<ClientDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#clients = db.collection('oauth_clients');
    this.#now = now;
  }

  async insert(id: string, metadata: Record<string, unknown>): Promise<Date> {
    const registeredAt = this.#now();
    const expiresAt = new Date(registeredAt.getTime() + UNUSED_CLIENT_LIFETIME_MS);
    await insertFirst(this.#clients, { _id: id, metadata, registeredAt, expiresAt }, '_id');
    return registeredAt;
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    const client = await this.#clients.findOne({ _id: id });
    return client === null || client.expiresAt <= this.#now() ? undefined : client.metadata;
  }

  /** Keeps a client at least until a grant to it ends. */
  async keepUntil(id: string, expiresAt: Date): Promise<void> {
    await this.#clients.updateOne({ _id: id }, { $max: { expiresAt } });
  }

  async purge(now: Date): Promise<void> {
    await this.#clients.deleteMany({ expiresAt: { $lte: now } });
  }
}
