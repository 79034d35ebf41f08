import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import { OracleError } from '../../../platform/errors.ts';
import {
  BUDGET_INDEX,
  BUDGET_KEY,
  type BudgetUnit,
  RangeBudget,
  type RangeLimits,
  type SpentLimit,
} from '../../../platform/limits/range-budget.ts';
import type { CollectionIndexes } from '../../../platform/mongo.ts';
import { MAX_GRANTS_PER_WALLET } from './grant-store.ts';

/** A client registered by RFC 7591. Without a consent it is a unit of the registrations of its address ranges, `at` is then its registration. */
export interface ClientDoc extends BudgetUnit {
  metadata: Record<string, unknown>;
  expiresAt: Date;
  /** The wallet that allowed it last. */
  usedBy: Address | null;
  usedAt: Date | null;
}

const CLIENTS = 'oauth_clients';
const DOCUMENTS = 'oauth_document_reads';
const EXPIRY_KEY = { expiresAt: 1 } as const;
const USE_KEY = { usedBy: 1, usedAt: -1 } as const;

export const CLIENT_INDEXES = [
  { collection: CLIENTS, indexes: [{ key: EXPIRY_KEY }, { key: USE_KEY }, BUDGET_INDEX] },
  { collection: DOCUMENTS, indexes: [BUDGET_INDEX] },
] satisfies CollectionIndexes[];

/** Of a registration without a consent: its client registers again. */
export const UNUSED_CLIENT_LIFETIME_MS = 3_600_000;

/**
 * A registration counts for the hour that it is kept, or until a wallet allows it: consents have no bound but that of a wallet.
 * - Address, 100: a hosted assistant registers its users from a few addresses, and most of those who begin consent within minutes; a
 *   program registers once.
 * - /24 and /56, 200, and /48, 400: offices and egress ranges of assistants; a flood needs 50 such ranges to fill the storage.
 * - No bound over all rejects a registration: that would let those who fill it lock out everybody. `MAX_UNUSED_CLIENTS` bounds the storage
 *   instead, 80 MB at 8 kB each: beyond it the oldest goes, of all for a range with fewer than `OWN_EVICTION`, otherwise of the range's own.
 *   So that 1,000 ranges, all new, are needed to drop a registration in the minutes before its consent.
 * Documents of clients are fetched at the service's expense, and cached for 5 to 60 minutes. A document of a client that wallets have
 * allowed does not count, so that popular assistants are never locked out.
 * - Address 30, /24 and /56 60, /48 120: a browser or a program names a few clients.
 * - All 2,000 within an hour, less than one a second, of which 500 for ranges with fewer than 3.
 */
export const REGISTRATION_LIMITS: RangeLimits = { address: 100, '/24': 200, '/56': 200, '/48': 400 };
export const MAX_UNUSED_CLIENTS = 10_000;
const OWN_EVICTION = 10;
export const DOCUMENT_LIMITS: RangeLimits = { address: 30, '/24': 60, '/56': 60, '/48': 120, all: 2_000, reserve: 500, reservePerRange: 3 };

export interface ClientStoreOptions {
  db: Db;
  now(): Date;
  limits?: RangeLimits;
  maxUnused?: number;
}

export class ClientStore {
  readonly #clients: Collection<ClientDoc>;
  readonly #registrations: RangeBudget<ClientDoc>;
  readonly #documents: RangeBudget<BudgetUnit>;
  readonly #maxUnused: number;
  readonly #now: () => Date;

  constructor({ db, now, limits = REGISTRATION_LIMITS, maxUnused = MAX_UNUSED_CLIENTS }: ClientStoreOptions) {
    this.#clients = db.collection(CLIENTS);
    this.#registrations = new RangeBudget(this.#clients, { limits, windowMs: UNUSED_CLIENT_LIFETIME_MS });
    const documents = { limits: DOCUMENT_LIMITS, windowMs: UNUSED_CLIENT_LIFETIME_MS };
    this.#documents = new RangeBudget(db.collection<BudgetUnit>(DOCUMENTS), documents);
    this.#maxUnused = maxUnused;
    this.#now = now;
  }

  /** @param address as the rate limits key it @throws OracleError RATE_LIMITED when a share is used up */
  async insert(id: string, metadata: Record<string, unknown>, address: string): Promise<Date> {
    const at = this.#now();
    const expiresAt = new Date(at.getTime() + UNUSED_CLIENT_LIFETIME_MS);
    const spent = await this.#registrations.take({
      id,
      isFresh: true,
      address,
      at,
      fields: { metadata, expiresAt, usedBy: null, usedAt: null },
    });
    if (spent !== null) throw tooManyClientsError(spent, at, 'OAuth clients registered without a consent');
    await this.#evict(id);
    return at;
  }

  /** Counts a document that is about to be fetched. @throws OracleError RATE_LIMITED when a share is used up */
  async countDocument(address: string): Promise<void> {
    const at = this.#now();
    const spent = await this.#documents.take({ id: randomUUID(), isFresh: true, address, at, fields: {} });
    if (spent !== null) throw tooManyClientsError(spent, at, 'OAuth clients looked up');
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    const client = await this.#clients.findOne({ _id: id });
    return client === null || client.expiresAt <= this.#now() ? undefined : client.metadata;
  }

  /** Whether errors may go to its redirect URIs: a wallet has allowed it, or it is none of ours but a metadata document. */
  async mayRedirect(id: string): Promise<boolean> {
    const client = await this.#clients.findOne({ _id: id }, { projection: { usedBy: 1 } });
    return client === null || client.usedBy !== null;
  }

  /** A wallet has allowed it: it is kept at least until the grant ends, and its unit is given back. */
  async markUsed(id: string, wallet: Address, until: Date): Promise<void> {
    const used = { scopes: [], usedBy: wallet, usedAt: this.#now() };
    await this.#clients.updateOne({ _id: id }, { $set: used, $max: { expiresAt: until } });
  }

  /** Clients that a wallet has allowed, less those that it allowed last: each may still have a grant. */
  async listExcess(wallet: Address): Promise<string[]> {
    const excess = this.#clients.find({ usedBy: wallet }, { hint: USE_KEY, projection: { _id: 1 } });
    return (await excess.sort(USE_KEY).skip(MAX_GRANTS_PER_WALLET).toArray()).map(({ _id }) => _id);
  }

  async delete(id: string): Promise<void> {
    await this.#clients.deleteOne({ _id: id });
  }

  async purge(now: Date): Promise<void> {
    await this.#clients.deleteMany({ expiresAt: { $lte: now } });
    await this.#documents.purge(now);
  }

  /** Keeps the unused ones bounded. A client that a wallet allows meanwhile stays. */
  async #evict(newest: string): Promise<void> {
    const unused = await this.#clients.countDocuments({ scopes: 'all' }, { hint: BUDGET_KEY });
    if (unused <= this.#maxUnused) return;
    const { scopes = [] } = (await this.#clients.findOne({ _id: newest }, { projection: { scopes: 1 } })) ?? {};
    const range = scopes.at(-2);
    const ofRange =
      range === undefined ? 0 : await this.#clients.countDocuments({ scopes: range }, { hint: BUDGET_KEY, limit: OWN_EVICTION });
    const evicted = ofRange < OWN_EVICTION || range === undefined ? 'all' : range;
    const oldest = await this.#clients
      .find({ scopes: evicted, _id: { $ne: newest } }, { hint: BUDGET_KEY, projection: { _id: 1 } })
      .sort({ at: 1 })
      .limit(unused - this.#maxUnused)
      .toArray();
    for (const { _id } of oldest) await this.#clients.deleteOne({ _id, usedBy: null });
  }
}

function tooManyClientsError({ scope, limit, freeAt }: SpentLimit, at: Date, what: string): OracleError {
  const of = scope === 'address' ? 'one address' : scope === 'all' ? 'all callers' : `one ${scope}`;
  const retryAfterSeconds = Math.max(1, Math.ceil((freeAt.getTime() - at.getTime()) / 1_000));
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${what} within an hour from ${of} is reached`, {
    suggestedAction: `Wait ${retryAfterSeconds} s, or connect a client that is registered already.`,
    retryAfterSeconds,
    details: { scope, limit, windowSeconds: UNUSED_CLIENT_LIFETIME_MS / 1_000 },
  });
}
