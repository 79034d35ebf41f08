import type { Db } from 'mongodb';
import {
  type Address,
  BaseError,
  formatTransactionReceipt,
  type Hex,
  hexToBigInt,
  numberToHex,
  type PublicClient,
  type RpcTransactionReceipt,
  type TransactionReceipt,
} from 'viem';
import { type CollectionIndexes, ensureIndexes, ignoreDuplicate, isFirstWrite } from '../platform/mongo.ts';
import type { Chain } from './client.ts';
import { chainCall } from './rpc.ts';

/**
 * SENT: signed, perhaps broadcast. CONFIRMED, REVERTED: at the confirmation depth; a deeper reorganisation takes it back to SENT. FILLER: closes a
 * nonce gap by a transfer to self.
 */
export type JournalState = 'SENT' | 'CONFIRMED' | 'REVERTED' | 'FILLER';

/** One signed transaction of a row; a replacement adds another with the same nonce. Wei as decimal text. */
export interface SignedAttempt {
  hash: Hex;
  /** `0x` for a transaction that was found mined without its signature; the last attempt of a row always has one. */
  raw: Hex;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  signedAt: Date;
  /** Newest block at the signature; unset by earlier versions. */
  atBlock?: number;
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
  /** Mined in a block that is not final yet. */
  isWatched?: boolean;
  /** The last time that a reorganisation took it off the chain, with its receipt; handled: what follows from that is taken back. */
  lost?: { at: Date; receipt: StoredReceipt; isHandled: boolean };
  createdAt: Date;
  updatedAt: Date;
}

export type MinedRow = JournalRow & { receipt: StoredReceipt };

type JournalRowChange = Partial<
  Pick<JournalRow, 'data' | 'gas' | 'nonce' | 'state' | 'signedFromBlock' | 'attempts' | 'displaced' | 'receipt' | 'isWatched' | 'lost'>
>;

export type Journal = ReturnType<typeof createJournal>;

const ONE_ROW_PER_NONCE = 'one_row_per_nonce';
const OPEN_ROWS = 'open_rows';
const WATCHED_ROWS = 'watched_rows';
const LOST_ROWS = 'lost_rows';

const INDEXES: CollectionIndexes = {
  collection: 'transactions',
  indexes: [
    { key: { chainId: 1, address: 1, nonce: 1 }, unique: true, name: ONE_ROW_PER_NONCE },
    { key: { state: 1 }, name: OPEN_ROWS, partialFilterExpression: { state: 'SENT' } },
    { key: { 'receipt.blockNumber': 1 }, name: WATCHED_ROWS, partialFilterExpression: { isWatched: true } },
    { key: { 'lost.at': 1 }, name: LOST_ROWS, partialFilterExpression: { 'lost.isHandled': false } },
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
    hasOtherChain: async (chainId: number): Promise<boolean> =>
      (await rows.findOne({ chainId: { $ne: chainId } }, { projection: { _id: 1 } })) !== null,
    /** Whether there is a transaction of another chain, or of none of these wallets. */
    async hasOthers(chainId: number, wallets: readonly Address[]): Promise<boolean> {
      // Rows that were read back from a chain have addresses in lower case.
      const known = wallets.flatMap((address) => [address, address.toLowerCase() as Address]);
      return (
        (await rows.findOne({ $or: [{ chainId: { $ne: chainId } }, { address: { $nin: known } }] }, { projection: { _id: 1 } })) !== null
      );
    },
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
    /** Of transactions whose blocks are not final yet, those of the highest block first. */
    listWatched: (chainId: number): AsyncIterable<MinedRow> =>
      rows
        .find({ chainId, isWatched: true }, { hint: WATCHED_ROWS, batchSize: 10 })
        .sort({ 'receipt.blockNumber': -1 }) as AsyncIterable<MinedRow>,
    /** Ends the watch of transactions up to a block that is final. */
    async settle(chainId: number, throughBlock: number): Promise<void> {
      const final = { chainId, isWatched: true, 'receipt.blockNumber': { $lte: throughBlock } };
      await rows.updateMany(final, { $unset: { isWatched: true } }, { hint: WATCHED_ROWS });
    },
    /** Those that a reorganisation took off the chain, while what follows from them is not taken back. */
    listUnhandled: (chainId: number): Promise<JournalRow[]> =>
      rows.find({ chainId, 'lost.isHandled': false }, { hint: LOST_ROWS }).sort({ 'lost.at': 1 }).toArray(),
    async markHandled({ _id, lost }: JournalRow): Promise<void> {
      await rows.updateOne({ _id, 'lost.at': lost!.at }, { $set: { 'lost.isHandled': true } });
    },
    /** Those that were taken off the chain and are not mined again, by nonce. */
    listLost: (chainId: number): Promise<JournalRow[]> =>
      rows
        .find({ chainId, state: 'SENT', lost: { $exists: true } }, { hint: OPEN_ROWS })
        .sort({ nonce: 1 })
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

/** EIP-1559 fees in wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

export interface FeeQuote extends Fees {
  baseFeePerGas: bigint;
  blockNumber: number;
}

/** `quote()` is at most two seconds old. */
export type FeeSource = ReturnType<typeof createFeeSource>;

const MAX_AGE_MS = 2_000;

/** Quotes twice the base fee, enough for six full blocks in a row, plus the priority fee that the node suggests, or that was paid. */
export function createFeeSource(client: PublicClient) {
  let latest: { at: number; quote: Promise<FeeQuote> } | undefined;

  function quoteFresh(): Promise<FeeQuote> {
    const quote = chainCall('Reading the fees', () => readFees(client));
    latest = { at: performance.now(), quote };
    quote.catch(() => {
      latest = undefined;
    });
    return quote;
  }

  return { quoteFresh, quote: () => (latest && performance.now() - latest.at < MAX_AGE_MS ? latest.quote : quoteFresh()) };
}

async function readFees(client: PublicClient): Promise<FeeQuote> {
  const [block, maxPriorityFeePerGas] = await Promise.all([client.getBlock(), readTip(client)]);
  const baseFeePerGas = block.baseFeePerGas ?? 0n;
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas;
  return { baseFeePerGas, maxPriorityFeePerGas, maxFeePerGas, blockNumber: Number(block.number) };
}

/** As the node suggests it; many endpoints lack that method, whose history of fees then says what was paid. */
async function readTip(client: PublicClient): Promise<bigint> {
  const suggestion = { method: 'eth_maxPriorityFeePerGas' } as const;
  try {
    return hexToBigInt(await client.request<{ Method: typeof suggestion.method; Parameters?: undefined; ReturnType: Hex }>(suggestion));
  } catch {
    return readPaidTip(client);
  }
}

/** Wei per gas. The least that nodes of the OP Stack suggest. */
const MIN_TIP = 1_000_000n;
const HISTORY_BLOCKS = 20;

/** The median over the newest blocks of the median tip of each; empty blocks have none. */
async function readPaidTip(client: PublicClient): Promise<bigint> {
  const { reward, gasUsedRatio } = await client.getFeeHistory({ blockCount: HISTORY_BLOCKS, rewardPercentiles: [50] });
  if (reward === undefined) throw new BaseError('eth_feeHistory: the answer has no rewards');
  const tips = reward.flatMap(([tip = 0n], index) => ((gasUsedRatio[index] ?? 0) > 0 ? [tip] : []));
  const ascending = tips.toSorted((a, b) => (a < b ? -1 : 1));
  return maxBigint(ascending[ascending.length >> 1] ?? 0n, MIN_TIP);
}

/** Both raised by an eighth (nodes require a tenth), and to the current quote if the cap allows; null when the cap forbids it. */
export function bumpFees(previous: Fees, quote: FeeQuote, cap: bigint): Fees | null {
  const minFeePerGas = addEighth(previous.maxFeePerGas);
  const maxPriorityFeePerGas = maxBigint(addEighth(previous.maxPriorityFeePerGas), quote.maxPriorityFeePerGas);
  if (minFeePerGas > cap || maxPriorityFeePerGas > cap) return null;
  const wanted = maxBigint(minFeePerGas, quote.maxFeePerGas, quote.baseFeePerGas + maxPriorityFeePerGas);
  return { maxFeePerGas: wanted > cap ? cap : wanted, maxPriorityFeePerGas };
}

export function capFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  const clamp = (fee: bigint) => (fee < cap ? fee : cap);
  return { maxFeePerGas: clamp(maxFeePerGas), maxPriorityFeePerGas: clamp(maxPriorityFeePerGas) };
}

function addEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

/** `Math.max` does not accept bigints. */
function maxBigint(...values: bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? 1 : -1))[0];
}

/** `unseen`: in no block. `shallow`: in a block above the confirmation depth, or no longer canonical. */
export type InclusionStatus = { at: 'unseen' | 'shallow' } | { at: 'depth'; state: JournalState; receipt: StoredReceipt };

/** OP Stack receipts include the fee for data on the parent chain. */
type RollupReceipt = RpcTransactionReceipt & { l1Fee?: unknown };

/** `l1Fee` in wei; 0 on a chain without one. */
type MinedReceipt = TransactionReceipt & { l1Fee: bigint };

/** Looks up a row's transactions on chain; at most one can be mined, since they share a nonce. */
export async function readInclusion(chain: Chain, row: JournalRow): Promise<InclusionStatus> {
  const receipts = await Promise.all(row.attempts.map(({ hash }) => readReceipt(chain, hash)));
  const receipt = receipts.find((found) => found !== null);
  if (!receipt) return { at: 'unseen' };
  return (await readConfirmedReceipt(chain, receipt)) ?? { at: 'shallow' };
}

async function readReceipt(chain: Chain, hash: Hex): Promise<MinedReceipt | null> {
  const receipt = await chainCall('Reading a receipt', () =>
    chain.client.request<{ Method: 'eth_getTransactionReceipt'; Parameters: [Hex]; ReturnType: RollupReceipt | null }>({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    }),
  );
  // Some nodes return a receipt of the pending block.
  if (!receipt?.blockHash) return null;
  return { ...formatTransactionReceipt(receipt), l1Fee: parseL1Fee(receipt.l1Fee) };
}

/** Lenient: an invalid cost figure must not hide a mined transaction. */
function parseL1Fee(l1Fee: unknown): bigint {
  return typeof l1Fee === 'string' && /^0x[\da-f]{1,64}$/i.test(l1Fee) ? BigInt(l1Fee) : 0n;
}

/** Reads the height before the block, so that a reorganisation in between cannot overstate the depth of a canonical block. */
async function readConfirmedReceipt(chain: Chain, receipt: MinedReceipt): Promise<InclusionStatus | null> {
  const { blockNumber, blockHash } = receipt;
  const { client, confirmations } = chain;
  const state = receipt.status === 'success' ? 'CONFIRMED' : 'REVERTED';
  const timestamp = readBlockTime(receipt);
  if (confirmations <= 1 && timestamp !== null) return { at: 'depth', state, receipt: toStoredReceipt(receipt, timestamp) };
  const block = await chainCall('Reading the block of a transaction', async () => {
    const head = confirmations > 1 ? await client.getBlockNumber() : blockNumber;
    if (head - blockNumber + 1n < confirmations) return null;
    return client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] });
  });
  if (block?.hash !== blockHash) return null;
  return { at: 'depth', state, receipt: toStoredReceipt(receipt, Number(block.timestamp)) };
}

/** Seconds; null for a receipt without logs, and of a node that gives logs without the time of their block. */
function readBlockTime({ logs }: MinedReceipt): number | null {
  const time: unknown = logs[0]?.blockTimestamp;
  return typeof time === 'bigint' ? Number(time) : null;
}

function toStoredReceipt(receipt: MinedReceipt, timestamp: number): StoredReceipt {
  return {
    hash: receipt.transactionHash,
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash,
    at: new Date(timestamp * 1000),
    gasUsed: Number(receipt.gasUsed),
    effectiveGasPrice: String(receipt.effectiveGasPrice),
    ...(receipt.l1Fee === 0n ? {} : { l1FeeWei: String(receipt.l1Fee) }),
    logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
  };
}
