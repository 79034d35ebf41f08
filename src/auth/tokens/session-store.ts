import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import { type CollectionIndexes, toLiterals } from '../../platform/mongo.ts';
import { confirmIfUncertain, insertFirst, repeatIfUncertain } from '../../platform/uncertain-write.ts';
import type { GateReading } from '../tiers/gate-balance.ts';
import type { PaidTier } from '../tiers/tiers.ts';

export interface SessionDoc {
  _id: string;
  wallet: Address;
  /** Tier at login; the upper bound of the session's tier. */
  tier: PaidTier;
  gate: GateReading;
  gateReadAt: Date;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

export const SESSION_INDEXES = [
  { collection: 'sessions', indexes: [{ key: { wallet: 1 } }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

/** Login sessions. Wallets are stored with their EIP-55 checksum. */
export class SessionStore {
  readonly #sessions: Collection<SessionDoc>;

  constructor(db: Db) {
    this.#sessions = db.collection('sessions');
  }

  static createId(): string {
    return randomUUID();
  }

  async insert(session: Omit<SessionDoc, 'revokedAt'>): Promise<void> {
    await insertFirst(this.#sessions, { ...session, revokedAt: null }, '_id');
  }

  /** As `insert`, but ends after this time by the database's clock at the latest: that of the process may run ahead. */
  async insertWithin(lifetimeMs: number, { _id, expiresAt, ...session }: Omit<SessionDoc, 'revokedAt'>): Promise<void> {
    const end = { $min: [expiresAt, { $add: ['$$NOW', lifetimeMs] }] };
    const update = [{ $set: { ...toLiterals({ ...session, revokedAt: null }), expiresAt: end } }];
    await repeatIfUncertain(() => this.#sessions.updateOne({ _id }, update, { upsert: true }));
  }

  /** Null for an unknown, expired or revoked session. */
  async findLive(sessionId: string, now: Date): Promise<SessionDoc | null> {
    const session = await this.#sessions.findOne({ _id: sessionId });
    return session === null || session.revokedAt !== null || session.expiresAt <= now ? null : session;
  }

  async listLive(sessionIds: readonly string[], now: Date): Promise<SessionDoc[]> {
    const sessions = await this.#sessions.find({ _id: { $in: [...sessionIds] } }, { hint: { _id: 1 } }).toArray();
    return sessions.filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt > now);
  }

  async saveGateReading(wallet: Address, gate: GateReading, gateReadAt: Date): Promise<void> {
    await this.#sessions.updateMany({ wallet, gateReadAt: { $lt: gateReadAt } }, { $set: { gate, gateReadAt } });
  }

  /** Returns whether the session was live. */
  async revoke(sessionId: string, now: Date): Promise<boolean> {
    return confirmIfUncertain(
      async () => (await this.#sessions.updateOne({ _id: sessionId, revokedAt: null }, { $set: { revokedAt: now } })).modifiedCount === 1,
      async () => (await this.#sessions.findOne({ _id: sessionId, revokedAt: now })) && true,
    );
  }

  /** Returns the number of sessions that were live. */
  async revokeWallet(wallet: Address, now: Date): Promise<number> {
    const { modifiedCount } = await this.#sessions.updateMany({ wallet, revokedAt: null }, { $set: { revokedAt: now } });
    return modifiedCount;
  }

  async purge(now: Date): Promise<void> {
    await this.#sessions.deleteMany({ expiresAt: { $lte: now } });
  }
}
