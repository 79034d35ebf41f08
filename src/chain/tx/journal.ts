import type { Db } from 'mongodb';
import type { Address, Hex } from 'viem';
import { type CollectionIndexes, ensureIndexes, ignoreDuplicate, isFirstWrite } from '../../platform/mongo.ts';

/** SENT: signed, perhaps broadcast. CONFIRMED, REVERTED: final at the confirmation depth. FILLER: closes a nonce gap by a transfer to self. */
export type JournalState = 'SENT' | 'CONFIRMED' | 'REVERTED' | 'FILLER';

/** One signed transaction of a row; a replacement adds another with the same nonce. Wei as decimal text. */
export interface SignedAttempt {
  hash: Hex;
  /** `0x` for a transaction that was found mined without its signature; the last attempt of a row always has one. */
  raw: Hex;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  signedAt: Date;
}

export interface StoredReceipt {
  hash: Hex;
  blockNumber: number;
  blockHash: Hex;
  /** Block time. */
  at: Date;
  gasUsed: number;
  /** Wei as decimal text. */
  effectiveGasPrice: string;
  /** Data fee of a rollup on its parent chain, wei as decimal text; unset: none. */
  l1FeeWei?: string;
  logs: { address: Address; topics: Hex[]; data: Hex }[];
}

/** One intended effect: at most one of its transactions is ever mined. */
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
  version: number;
  /** A block that existed before the first signature with this nonce. */
  signedFromBlock: number;
  attempts: SignedAttempt[];
  displaced: { nonce: number; hashes: Hex[] }[];
  receipt: StoredReceipt | null;
  createdAt: Date;
  updatedAt: Date;
}

export type JournalRowChange = Partial<Pick<JournalRow, 'nonce' | 'state' | 'signedFromBlock' | 'attempts' | 'displaced' | 'receipt'>>;

export type Journal = ReturnType<typeof createJournal>;

const ONE_ROW_PER_NONCE = 'one_row_per_nonce';
const OPEN_ROWS = 'open_rows';

const INDEXES: CollectionIndexes = {
  collection: 'transactions',
  indexes: [
    { key: { chainId: 1, address: 1, nonce: 1 }, unique: true, name: ONE_ROW_PER_NONCE },
    { key: { state: 1 }, name: OPEN_ROWS, partialFilterExpression: { state: 'SENT' } },
  ],
};

/** Transactions of a wallet that are signed and not final. */
export interface OpenTransactions {
  role: string;
  count: number;
  /** First signature of the oldest. */
  since: Date;
}

/** The journal with its indexes, which are made where they are missing. */
export async function openJournal(db: Db): Promise<Journal> {
  await ensureIndexes(db, [INDEXES]);
  return createJournal(db);
}

/** Write-ahead log of the transactions of all wallets: each signature is stored before its broadcast. */
export function createJournal(db: Db) {
  const rows = db.collection<JournalRow>(INDEXES.collection);
  return {
    find: (id: string): Promise<JournalRow | null> => rows.findOne({ _id: id }),
    findByNonce: (chainId: number, address: Address, nonce: number): Promise<JournalRow | null> =>
      rows.findOne({ chainId, address, nonce }),
    async findHighestNonce(chainId: number, address: Address): Promise<number | null> {
      const highest = await rows.findOne({ chainId, address }, { sort: { nonce: -1 }, projection: { nonce: 1 } });
      return highest?.nonce ?? null;
    },
    /** Hashes in the journal that share a row with one of these, broadcast or not. */
    async findSignedHashes(chainId: number, address: Address, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>> {
      const filter = { chainId, address, 'attempts.hash': { $in: [...hashes] } };
      const found = await rows.find(filter, { hint: ONE_ROW_PER_NONCE, projection: { 'attempts.hash': 1 } }).toArray();
      return new Set(found.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)));
    },
    /** The transaction in the highest block that any wallet has confirmed. */
    findLastConfirmed: (chainId: number): Promise<JournalRow | null> =>
      rows.findOne({ chainId, state: 'CONFIRMED' }, { sort: { 'receipt.blockNumber': -1 } }),
    /** All that have a receipt, in the order of their blocks. */
    listMined: (chainId: number): Promise<JournalRow[]> =>
      rows
        .find({ chainId, receipt: { $ne: null } })
        .sort({ 'receipt.blockNumber': 1 })
        .toArray(),
    /** By wallet; those without any are left out. */
    countOpen: (chainId: number): Promise<OpenTransactions[]> =>
      rows
        .aggregate<OpenTransactions>(
          [
            { $match: { state: 'SENT', chainId } },
            { $group: { _id: '$role', count: { $sum: 1 }, since: { $min: '$createdAt' } } },
            { $project: { _id: 0, role: '$_id', count: 1, since: 1 } },
            { $sort: { role: 1 } },
          ],
          { hint: OPEN_ROWS },
        )
        .toArray(),
    /** False when the key or the nonce is taken. */
    insert: (row: JournalRow): Promise<boolean> => isFirstWrite(rows.insertOne(row)),
    /** Compare-and-set on `version`; null when another worker changed the row first or the new nonce is taken. */
    async update(row: JournalRow, change: JournalRowChange): Promise<JournalRow | null> {
      const { _id, version } = row;
      const set = { ...change, updatedAt: new Date(), version: version + 1 };
      const updated = await rows.updateOne({ _id, version }, { $set: set }).catch(ignoreDuplicate);
      return updated === null || updated.matchedCount === 0 ? null : { ...row, ...set };
    },
  };
}
