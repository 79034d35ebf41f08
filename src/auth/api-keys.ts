import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import { OracleError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import type { CollectionIndexes } from '../platform/mongo.ts';
import { insertFirst, repeatIfUncertain } from '../platform/retry.ts';
import { type GateReading, isTierAtLeast, type PaidTier, type ReadGateBalance, tierRequired } from './tiers.ts';

export interface NewApiKey {
  label: string;
  /** Upper bound: the key never has more than the balance gives when it is used. */
  tier: PaidTier;
  /** Null: until it is revoked. */
  expiresInDays: number | null;
}

export interface IssuedApiKey {
  /** The secret; only its hash is stored. */
  key: string;
  entry: AccessEntry;
}

const ID_PREFIX = 'key_';

/** Whether this is the id of a key; sessions have UUIDs. */
export function isApiKeyId(id: string): boolean {
  return id.startsWith(ID_PREFIX);
}

/** Keys of wallets for bots, valid until they expire or are revoked. */
export class ApiKeys implements AccessSource {
  readonly #deps: { store: ApiKeyStore; readGate: ReadGateBalance; now(): Date };

  constructor(deps: { store: ApiKeyStore; readGate: ReadGateBalance; now(): Date }) {
    this.#deps = deps;
  }

  /** @throws OracleError TIER_REQUIRED for a tier that the balance does not give now, CONFLICT at the wallet's limit, CHAIN_UNREACHABLE */
  async issue(wallet: Address, { label, tier, expiresInDays }: NewApiKey): Promise<IssuedApiKey> {
    const { store, readGate, now } = this.#deps;
    const createdAt = now();
    const gate = await readGate(wallet);
    if (!isTierAtLeast(gate.tier, tier)) throw tierRequired(tier, gate);
    const key = generateApiKey();
    const doc = {
      _id: ID_PREFIX + randomBytes(12).toString('hex'),
      hash: hashApiKey(key),
      wallet,
      label,
      tier,
      gate,
      gateReadAt: createdAt,
      createdAt,
      expiresAt: expiresInDays === null ? null : new Date(createdAt.getTime() + expiresInDays * DAY_MS),
      lastUsedAt: null,
    };
    if (await store.add(doc)) return { key, entry: toAccessEntry(doc) };
    throw new OracleError('CONFLICT', `The wallet has ${MAX_API_KEYS_PER_WALLET} API keys, which is as many as it can have`, {
      suggestedAction: 'Revoke one that is no longer used: GET /api/svc/oracle/access has them with the time of their last use.',
      details: { limit: MAX_API_KEYS_PER_WALLET },
    });
  }

  /** Notes the use. @throws OracleError UNAUTHENTICATED; for a malformed key without asking the database */
  async find(key: string): Promise<ApiKeyDoc> {
    if (!isWellFormedApiKey(key)) throw keyRejected('The API key is mistyped or incomplete: its checksum does not match');
    const { store, now } = this.#deps;
    const doc = await store.findLiveByHash(hashApiKey(key), now());
    if (doc === null) throw keyRejected('The API key is not valid: it was revoked, has expired or was never issued');
    await store.noteUse([doc], now());
    return doc;
  }

  /** Live ones of these ids, whose use is noted. */
  async listLive(ids: readonly string[]): Promise<ApiKeyDoc[]> {
    const { store, now } = this.#deps;
    const live = await store.listLive(ids, now());
    await store.noteUse(live, now());
    return live;
  }

  async list(wallet: Address): Promise<AccessEntry[]> {
    return (await this.#deps.store.list(wallet, this.#deps.now())).map(toAccessEntry);
  }

  revoke(wallet: Address, id: string): Promise<boolean> {
    return this.#deps.store.revoke(wallet, id, this.#deps.now());
  }

  /** Returns the number of keys that were live. */
  revokeWallet(wallet: Address): Promise<number> {
    return this.#deps.store.revokeWallet(wallet, this.#deps.now());
  }
}

function toAccessEntry({ _id: id, label: name, tier, createdAt, lastUsedAt, expiresAt }: Omit<ApiKeyDoc, 'slot'>): AccessEntry {
  return { id, kind: 'key', name, tier, createdAt, lastUsedAt, expiresAt };
}

function keyRejected(problem: string): OracleError {
  return new OracleError('UNAUTHENTICATED', problem, {
    field: 'Authorization',
    suggestedAction: 'Send another key as Authorization: Bearer <key>. The owner of the wallet makes one at /access.',
  });
}

/** Standing access to the service that a wallet has granted: to a bot by an API key, or to an application by OAuth. */
export interface AccessEntry {
  id: string;
  kind: 'key' | 'application';
  /** Label of the key, or how the application is named: its host, or its own claim in quotation marks. */
  name: string;
  tier: PaidTier;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Null for access without an end of its own. */
  expiresAt: Date | null;
}

export interface AccessSource {
  /** Live entries of a wallet, newest first. */
  list(wallet: Address): Promise<AccessEntry[]>;
  /** Ends one; false for an id that is not a live one of this wallet. */
  revoke(wallet: Address, id: string): Promise<boolean>;
}

/** First characters of every key, for secret scanners. */
const API_KEY_PREFIX = 'bso_';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256. */
const SECRET_LENGTH = 43;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;

const API_KEY_PATTERN = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** `bso_`, 43 base62 digits of 256 random bits, and 6 of the CRC-32 of what is before them. */
export function generateApiKey(): string {
  const body = API_KEY_PREFIX + toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  return body + computeChecksum(body);
}

/** Whether a bearer token is meant as an API key: access tokens never begin like this. */
export function isApiKey(token: string): boolean {
  return token.startsWith(API_KEY_PREFIX);
}

/** False for a key that was mistyped, cut off or made up. */
export function isWellFormedApiKey(key: string): boolean {
  return API_KEY_PATTERN.test(key) && computeChecksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** SHA-256 as hex. A secret of 256 random bits needs no slow hash, and its hash can be looked up in an index. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function computeChecksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits;
}

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
    indexes: [
      { key: { hash: 1 }, unique: true },
      { key: { wallet: 1, slot: 1 }, unique: true },
    ],
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
      const { wallet, createdAt: now } = key;
      let slot = await this.#findFreeSlot(wallet);
      if (slot === undefined) {
        // Expired by the database's clock too: that of the process may run ahead.
        await this.#keys.deleteMany({ wallet, expiresAt: { $lte: now }, $expr: { $lte: ['$expiresAt', '$$NOW'] } });
        slot = await this.#findFreeSlot(wallet);
      }
      if (slot === undefined) return false;
      if (await insertFirst(this.#keys, { ...key, slot }, 'hash')) return this.#limitLifetime(key);
    }
  }

  /** By the database's clock: that of the process may run ahead. */
  async #limitLifetime({ hash, createdAt, expiresAt }: Omit<ApiKeyDoc, 'slot'>): Promise<true> {
    if (expiresAt === null) return true;
    const end = { $add: ['$$NOW', expiresAt.getTime() - createdAt.getTime()] };
    await repeatIfUncertain(() => this.#keys.updateOne({ hash }, [{ $set: { expiresAt: { $min: ['$expiresAt', end] } } }]));
    return true;
  }

  async #findFreeSlot(wallet: Address): Promise<number | undefined> {
    const taken = new Set((await this.#keys.find({ wallet }, { projection: { slot: 1 } }).toArray()).map(({ slot }) => slot));
    return Array.from({ length: MAX_API_KEYS_PER_WALLET }, (_, slot) => slot).find((slot) => !taken.has(slot));
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
}

function isLive({ expiresAt }: ApiKeyDoc, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}
