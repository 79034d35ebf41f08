import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import { insertFirst, repeatIfUncertain } from '../../platform/uncertain-write.ts';
import type { GateReading } from '../tiers/gate-balance.ts';
import type { PaidTier } from '../tiers/tiers.ts';

export interface ApiKeyDoc {
  /** `key_…`: names the key to its owner, and proves nothing. */
  _id: string;
  /** SHA-256 of the key, which is stored nowhere. */
  hash: string;
  wallet: Address;
  /** 0 to `MAX_API_KEYS_PER_WALLET` - 1, unique per wallet: the budget is a unique index. */
  slot: number;
  label: string;
  /** Upper bound of the key's tier. */
  tier: PaidTier;
  gate: GateReading;
  gateReadAt: Date;
  createdAt: Date;
  /** Null: until it is revoked. */
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

export const MAX_API_KEYS_PER_WALLET = 20;
/** `lastUsedAt` is at most so old. */
const LAST_USE_PRECISION_MS = 60_000;

const COLLECTION = 'api_keys';

export const API_KEY_INDEXES = [
  {
    collection: COLLECTION,
    indexes: [{ key: { hash: 1 }, unique: true }, { key: { wallet: 1, slot: 1 }, unique: true }, { key: { expiresAt: 1 } }],
  },
] as const satisfies CollectionIndexes[];

/** API keys. A revoked one is deleted. Wallets are stored with their EIP-55 checksum. */
export class ApiKeyStore {
  readonly #keys: Collection<ApiKeyDoc>;

  constructor(db: Db) {
    this.#keys = db.collection(COLLECTION);
  }

  /** Null for an unknown, expired or revoked key. */
  async findLiveByHash(hash: string, now: Date): Promise<ApiKeyDoc | null> {
    const key = await this.#keys.findOne({ hash });
    return key !== null && isLive(key, now) ? key : null;
  }

  async listLive(ids: readonly string[], now: Date): Promise<ApiKeyDoc[]> {
    const keys = await this.#keys.find({ _id: { $in: [...ids] } }, { hint: { _id: 1 } }).toArray();
    return keys.filter((key) => isLive(key, now));
  }

  /** Live keys, newest first. */
  async list(wallet: Address, now: Date): Promise<ApiKeyDoc[]> {
    const keys = (await this.#keys.find({ wallet }).toArray()).filter((key) => isLive(key, now));
    return keys.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || a._id.localeCompare(b._id));
  }

  /** False when the wallet has as many live keys as it may have. */
  async add(key: Omit<ApiKeyDoc, 'slot'>): Promise<boolean> {
    // Each conflict fills a slot of the wallet, so the loop ends unless keys are revoked meanwhile.
    for (;;) {
      const slot = (await this.#findFreeSlot(key.wallet)) ?? (await this.#freeExpiredSlot(key));
      if (slot === undefined) return false;
      if (await insertFirst(this.#keys, { ...key, slot }, 'hash')) return true;
    }
  }

  async #findFreeSlot(wallet: Address): Promise<number | undefined> {
    const taken = new Set((await this.#keys.find({ wallet }, { projection: { slot: 1 } }).toArray()).map(({ slot }) => slot));
    return Array.from({ length: MAX_API_KEYS_PER_WALLET }, (_, slot) => slot).find((slot) => !taken.has(slot));
  }

  /** Expired by the database's clock too: that of the process may run ahead. */
  async #freeExpiredSlot({ wallet, createdAt: now }: Pick<ApiKeyDoc, 'wallet' | 'createdAt'>): Promise<number | undefined> {
    await this.#keys.deleteMany({ wallet, expiresAt: { $lte: now }, $expr: { $lte: ['$expiresAt', '$$NOW'] } });
    return this.#findFreeSlot(wallet);
  }

  /** Notes a use, at most once a minute over all processes. */
  async noteUse(keys: readonly Pick<ApiKeyDoc, '_id' | 'lastUsedAt'>[], now: Date): Promise<void> {
    const before = new Date(now.getTime() - LAST_USE_PRECISION_MS);
    const due = keys.filter(({ lastUsedAt }) => lastUsedAt === null || lastUsedAt <= before);
    if (due.length === 0) return;
    const ids = due.map(({ _id }) => _id);
    // Not `$lte` alone, which does not match null.
    await this.#keys.updateMany({ _id: { $in: ids }, lastUsedAt: { $not: { $gt: before } } }, { $set: { lastUsedAt: now } });
  }

  async saveGateReading(wallet: Address, gate: GateReading, gateReadAt: Date): Promise<void> {
    await this.#keys.updateMany({ wallet, gateReadAt: { $lt: gateReadAt } }, { $set: { gate, gateReadAt } });
  }

  /** Returns whether the key was live. */
  async revoke(wallet: Address, id: string, now: Date): Promise<boolean> {
    const key = await this.#keys.findOne({ _id: id, wallet });
    if (key === null) return false;
    await repeatIfUncertain(() => this.#keys.deleteOne({ _id: id, wallet }));
    return isLive(key, now);
  }

  /** Returns the number of keys that were live. */
  async revokeWallet(wallet: Address, now: Date): Promise<number> {
    const live = await this.list(wallet, now);
    await repeatIfUncertain(() => this.#keys.deleteMany({ wallet }));
    return live.length;
  }

  /** Comparison with a date does not match null: a key without an end stays. */
  async purge(now: Date): Promise<void> {
    await this.#keys.deleteMany({ expiresAt: { $lte: now } });
  }
}

function isLive({ expiresAt }: ApiKeyDoc, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}
