import type { Db } from 'mongodb';
import type { Address, Hex } from 'viem';
import { type CollectionIndexes, ensureIndexes, isDuplicateKey } from '../../platform/mongo.ts';

/**
 * SENT: reserved and signed, perhaps broadcast. CONFIRMED and REVERTED are final: mined to the confirmation depth.
 * FILLER: a transfer of nothing to oneself that closes a hole in the nonces; nobody waits for it.
 */
export type JournalState = 'SENT' | 'CONFIRMED' | 'REVERTED' | 'FILLER';

/** One signature over a row's call; a replacement adds another with the same nonce. Wei as decimal text. */
export interface SignedAttempt {
  hash: Hex;
  /** `0x` where only the chain has it, of a transaction that was found mined; the last one of a row has it. */
  raw: Hex;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  signedAt: Date;
}

export interface StoredLog {
  address: Address;
  topics: Hex[];
  data: Hex;
}

export interface StoredReceipt {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Time of the block. */
  at: Date;
  gasUsed: number;
  /** Wei as decimal text. */
  effectiveGasPrice: string;
  /** What a rollup took for data on its parent chain beside the gas, wei as decimal text; unset: nothing. */
  l1FeeWei?: string;
  logs: StoredLog[];
}

/** One intended effect: at most one transaction of it is ever mined. */
export interface JournalRow {
  /** `<chain id>:<role>:<key>`. */
  _id: string;
  key: string;
  role: string;
  chainId: number;
  address: Address;
  nonce: number;
  to: Address;
  data: Hex;
  /** Wei as decimal text. */
  value: string;
  gas: string;
  state: JournalState;
  /** Counts changes; a change names the version it was decided on. */
  version: number;
  /** A block that was there before anything was signed with this nonce. */
  signedFromBlock: number;
  attempts: SignedAttempt[];
  /** Earlier nonces that a transaction from elsewhere took. */
  displaced: { nonce: number; hashes: Hex[] }[];
  receipt: StoredReceipt | null;
  createdAt: Date;
  updatedAt: Date;
}

export type JournalRowChange = Partial<Pick<JournalRow, 'nonce' | 'state' | 'signedFromBlock' | 'attempts' | 'displaced' | 'receipt'>>;

/** What is signed is written here before it is broadcast. */
export interface Journal {
  find(id: string): Promise<JournalRow | null>;
  findByNonce(chainId: number, address: Address, nonce: number): Promise<JournalRow | null>;
  findHighestNonce(chainId: number, address: Address): Promise<number | null>;
  /** Those of some transactions that were signed here, whether they were sent or not. */
  findSignedHashes(chainId: number, address: Address, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>>;
  /** The transaction in the highest block that any wallet has seen on a chain. */
  findLastConfirmed(chainId: number): Promise<JournalRow | null>;
  /** False when key or nonce are taken. */
  insert(row: JournalRow): Promise<boolean>;
  /** The changed row, or null when another worker changed it first or its new nonce is taken. */
  update(row: JournalRow, change: JournalRowChange): Promise<JournalRow | null>;
}

const ONE_ROW_PER_NONCE = 'one_row_per_nonce';

const INDEXES: CollectionIndexes = {
  collection: 'transactions',
  indexes: [{ key: { chainId: 1, address: 1, nonce: 1 }, unique: true, name: ONE_ROW_PER_NONCE }],
};

/** Opens the journal of all wallets: the collection `transactions`. */
export async function openJournal(db: Db): Promise<Journal> {
  const rows = db.collection<JournalRow>(INDEXES.collection);
  await ensureIndexes(db, [INDEXES]);
  return {
    find: (id) => rows.findOne({ _id: id }),
    findByNonce: (chainId, address, nonce) => rows.findOne({ chainId, address, nonce }),
    findHighestNonce: async (chainId, address) => {
      const highest = await rows.findOne({ chainId, address }, { sort: { nonce: -1 }, projection: { nonce: 1 } });
      return highest?.nonce ?? null;
    },
    findSignedHashes: async (chainId, address, hashes) => {
      const filter = { chainId, address, 'attempts.hash': { $in: [...hashes] } };
      const found = await rows.find(filter, { hint: ONE_ROW_PER_NONCE, projection: { 'attempts.hash': 1 } }).toArray();
      return new Set(found.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)));
    },
    findLastConfirmed: (chainId) => rows.findOne({ chainId, state: 'CONFIRMED' }, { sort: { 'receipt.blockNumber': -1 } }),
    insert: (row) => orIfDuplicate(async () => (await rows.insertOne(row)).acknowledged, false),
    update: (row, change) => {
      const update = { $set: { ...change, updatedAt: new Date() }, $inc: { version: 1 } };
      return orIfDuplicate(() => rows.findOneAndUpdate({ _id: row._id, version: row.version }, update, { returnDocument: 'after' }), null);
    },
  };
}

async function orIfDuplicate<T>(write: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) return fallback;
    throw error;
  }
}
