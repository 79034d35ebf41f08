import { randomBytes } from 'node:crypto';
import type { Address } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { AccessEntry, AccessSource } from '../access/access-entry.ts';
import type { ReadGateBalance } from '../tiers/gate-balance.ts';
import { isTierAtLeast, type PaidTier, tierRequired } from '../tiers/tiers.ts';
import { generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key.ts';
import { type ApiKeyDoc, type ApiKeyStore, MAX_API_KEYS_PER_WALLET } from './api-key-store.ts';

export interface ApiKeysDeps {
  store: ApiKeyStore;
  readGate: ReadGateBalance;
  now(): Date;
}

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

const DAY_MS = 86_400_000;
const ID_BYTES = 12;
const ID_PREFIX = 'key_';

/** Whether this is the id of a key; sessions have UUIDs. */
export function isApiKeyId(id: string): boolean {
  return id.startsWith(ID_PREFIX);
}

/** Keys of wallets for bots, valid until they expire or are revoked. */
export class ApiKeys implements AccessSource {
  readonly #deps: ApiKeysDeps;

  constructor(deps: ApiKeysDeps) {
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
      _id: ID_PREFIX + randomBytes(ID_BYTES).toString('hex'),
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
    if (!(await store.add(doc))) throw tooManyKeys();
    return { key, entry: toAccessEntry(doc) };
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

  purge(now: Date): Promise<void> {
    return this.#deps.store.purge(now);
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

function tooManyKeys(): OracleError {
  return new OracleError('CONFLICT', `The wallet has ${MAX_API_KEYS_PER_WALLET} API keys, which is as many as it can have`, {
    suggestedAction: 'Revoke one that is no longer used: GET /api/svc/oracle/access has them with the time of their last use.',
    details: { limit: MAX_API_KEYS_PER_WALLET },
  });
}
