import {
  type AbiEvent,
  type Address,
  BaseError,
  type Client,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  type GetLogsReturnType,
  type Hash,
  numberToHex,
  type PublicClient,
  RpcRequestError,
  type Transaction,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';

type LogClient = Pick<Client, 'request'>;

/** Inclusive. */
export interface BlockRange {
  from: number;
  to: number;
}

interface LogRangeOptions<Log> extends BlockRange {
  /** Reads one range in one request. @throws OracleError CHAIN_UNREACHABLE when the endpoint rejects it */
  read(range: BlockRange): Promise<readonly Log[]>;
  /** Whether the client sends concurrent calls as one request, which one node answers. */
  isBatching?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Reads events range by range, in chain order. A range that the endpoint rejects is read in shorter ones, and the length that it takes is kept
 * for each client. A node that is behind answers with an empty list: a range counts only if the endpoint knows its last block.
 * @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function* readLogRanges<Log>(
  client: LogClient,
  { from, to, read, isBatching = false, signal }: LogRangeOptions<Log>,
): AsyncGenerator<BlockRange & { logs: readonly Log[] }, void> {
  const length = getRangeLength(client);
  while (from <= to) {
    signal?.throwIfAborted();
    const range = { from, to: Math.min(to, from + length.size - 1) };
    const blocks = range.to - from + 1;
    const answer = await readKnownRange(client, { ...range, read, isBatching });
    if ('rejection' in answer) {
      if (!length.onRejected(blocks)) throw answer.rejection;
      continue;
    }
    length.onAnswered(blocks);
    yield { ...range, logs: answer.logs };
    from = range.to + 1;
  }
}

type RangeAnswer<Log> = { logs: readonly Log[] } | { rejection: unknown };

/**
 * The block is asked for first: a node that has it has its events, too, while a node that gets it in between would confirm an empty list.
 * In one request both are answered by the same node of a load balancer.
 */
async function readKnownRange<Log>(client: LogClient, { read, isBatching, ...range }: LogRangeOptions<Log>): Promise<RangeAnswer<Log>> {
  const tryRead = () =>
    read(range).then(
      (logs) => ({ logs }),
      // Endpoints have no common error code for a range that is too long.
      (rejection: unknown) => ({ rejection }),
    );
  if (isBatching) {
    const [block, answer] = await Promise.allSettled([requireBlock(client, range.to), tryRead()]);
    if (block.status === 'fulfilled' && answer.status === 'fulfilled') return answer.value;
    // One error for a whole batch does not say which call it is for.
  }
  await requireBlock(client, range.to);
  return tryRead();
}

/** @throws OracleError CHAIN_UNREACHABLE */
async function requireBlock({ request }: LogClient, number: number): Promise<void> {
  let cause: unknown;
  const call = () => request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
  const block = await chainCall('Reading a block', call).catch((error: unknown) => {
    cause = error;
    return null;
  });
  if (Number(block?.number ?? Number.NaN) === number) return;
  const message = `Reading events failed: the chain gives no usable answer to eth_getLogs, since the endpoint does not return block ${number}`;
  throw new OracleError('CHAIN_UNREACHABLE', message, { suggestedAction: 'Retry later; if it persists, check the RPC endpoint.', cause });
}

/** One limit of an endpoint is for all readers of a client. */
const lengths = new WeakMap<object, RangeLength>();

function getRangeLength(client: object): RangeLength {
  const length = lengths.get(client) ?? createRangeLength(MAX_BLOCKS_PER_REQUEST);
  lengths.set(client, length);
  return length;
}

/** First length of a range, which many endpoints take. */
const MAX_BLOCKS_PER_REQUEST = 10_000;
const SHRINK_FACTOR = 8;
const GROWTH_FACTOR = 2;
/** Answers after which a rejected length is tried again, since a rejection may be a transient overload. */
const PATIENCE = 64;

type RangeLength = ReturnType<typeof createRangeLength>;

/** Adapts the length of ranges to the limit of an endpoint: it shrinks when one is rejected, and grows below the rejected length. */
export function createRangeLength(max: number) {
  let rejected = Number.POSITIVE_INFINITY;
  let answers = 0;
  let beforeRejections: { size: number; rejected: number } | null = null;
  const length = {
    /** Blocks of the next range. */
    size: max,
    onAnswered(blocks: number): void {
      beforeRejections = null;
      // A shorter range, such as the last blocks of a chain, proves nothing about a longer one.
      if (blocks < length.size) return;
      answers += 1;
      if (answers % PATIENCE === 0) rejected = Number.POSITIVE_INFINITY;
      if (length.size * GROWTH_FACTOR < rejected) length.size = Math.min(max, length.size * GROWTH_FACTOR);
    },
    /** @returns false when the range cannot be shorter: then its length was not the reason, and the one before is kept */
    onRejected(blocks: number): boolean {
      beforeRejections ??= { size: length.size, rejected };
      if (blocks > 1) {
        [rejected, length.size] = [blocks, Math.max(1, Math.floor(blocks / SHRINK_FACTOR))];
        return true;
      }
      ({ size: length.size, rejected } = beforeRejections);
      beforeRejections = null;
      return false;
    },
  };
  return length;
}

/** Events of a contract over a block range of any length, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function readLogs<const E extends AbiEvent>(
  { client }: ChainReader,
  { fromBlock, toBlock, ...query }: { address: Address; event: E; args?: Record<string, unknown>; fromBlock: bigint; toBlock: bigint },
): Promise<GetLogsReturnType<E, [E], true>> {
  const all: unknown[] = [];
  const what = `Reading ${query.event.name} events`;
  const read = (range: BlockRange) => chainCall(what, () => requestLogs(client, query, range));
  for await (const { logs } of readLogRanges(client, { from: Number(fromBlock), to: Number(toBlock), read })) {
    for (const log of logs) all.push(log);
  }
  return all as GetLogsReturnType<E, [E], true>;
}

interface DecodedEvent {
  eventName: string;
  args: Record<string, unknown>;
  blockNumber: bigint;
  blockHash: Hash;
  logIndex: number;
}

/** Events of several kinds of one contract, range by range as `readLogRanges`. @throws OracleError CHAIN_UNREACHABLE */
export function readContractEvents(
  { client }: ChainReader,
  { from, to, ...query }: BlockRange & { address: Address; events: readonly AbiEvent[]; args?: Record<string, unknown> },
) {
  const read = (range: BlockRange) => chainCall('Reading events', () => requestLogs(client, query, range));
  return readLogRanges<DecodedEvent>(client, { from, to, read });
}

type GetLogs = (query: object) => Promise<readonly DecodedEvent[]>;

/** In one request; events that do not decode are left out. Throws viem errors. */
export function requestLogs({ getLogs: get }: PublicClient, query: object, { from, to }: BlockRange): Promise<readonly DecodedEvent[]> {
  return (get as unknown as GetLogs)({ ...query, strict: true, fromBlock: BigInt(from), toBlock: BigInt(to) });
}

export interface ChainReader {
  readonly client: PublicClient;
}

/** @throws OracleError CHAIN_UNREACHABLE */
export function readBlockNumber({ client }: ChainReader): Promise<bigint> {
  return chainCall('Reading the block number', () => client.getBlockNumber());
}

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readBlockTime({ client }: ChainReader, blockNumber: bigint): Promise<Date> {
  return toBlockTime(await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber })));
}

export function toBlockTime({ timestamp }: { timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000);
}

/** JSON-RPC error code of a reverted execution in geth, reth and anvil; EIP-1474 defines none. */
const EXECUTION_REVERTED_CODE = 3;

/**
 * Wraps an error of the RPC client once. Clients read the message: text from viem, the node or the contract goes into the cause only,
 * without the endpoint's URL, which may contain an API key. @param what names the call, e.g. `Reading a schema`
 * @throws OracleError CHAIN_REVERTED when the EVM reverted, CHAIN_UNREACHABLE for any other failure
 */
export async function chainCall<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toChainError(what, error);
  }
}

export function toChainError(what: string, error: unknown): OracleError {
  if (isOracleError(error)) return error;
  const cause = redactUrl(error);
  if (isRevert(error)) return new OracleError('CHAIN_REVERTED', `${what} reverted`, { cause });
  const method = findMethod(error);
  return new OracleError('CHAIN_UNREACHABLE', `${what} failed: the chain gives no usable answer${method === null ? '' : ` to ${method}`}`, {
    cause,
    suggestedAction: 'Retry later; if it persists, check the RPC endpoint.',
  });
}

/** viem quotes the request in its long messages; our client begins its own with the method. */
const METHOD = /^(eth_\w+): |Request body: \[?\{[^[]*"method":"(\w+)"/m;

function findMethod(error: unknown): string | null {
  if (!(error instanceof BaseError)) return null;
  let method: string | null = null;
  error.walk((cause) => {
    const [, own, quoted] = METHOD.exec(getErrorMessage(cause)) ?? [];
    method = own ?? quoted ?? null;
    return method !== null;
  });
  return method;
}

/** The node's error message in lower case, to classify why it rejected a call or transaction. */
export function getNodeMessage(error: unknown): string {
  if (!(error instanceof BaseError)) return getErrorMessage(error).toLowerCase();
  return `${error.details ?? ''} ${error.shortMessage}`.toLowerCase();
}

function isRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const reverted = error.walk(
    (e) =>
      e instanceof ContractFunctionRevertedError ||
      e instanceof ContractFunctionZeroDataError ||
      e instanceof ExecutionRevertedError ||
      (e instanceof RpcRequestError && e.code === EXECUTION_REVERTED_CODE),
  );
  return reverted !== null;
}

/** viem quotes the URL in its long message and `metaMessages`, but not in its short message and details. */
function redactUrl(error: unknown): Error {
  const message = error instanceof BaseError ? [error.shortMessage, error.details].filter(Boolean).join(' ') : getErrorMessage(error);
  const cause = new Error(message.replaceAll(/https?:\/\/\S+/g, '<endpoint>'));
  if (error instanceof Error) cause.name = error.name;
  return cause;
}

/** The signal aborts at the timeout, so that no request is left pending. @throws OracleError CHAIN_UNREACHABLE at the timeout */
export async function withChainTimeout<T>(timeoutMs: number, what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const controller = new AbortController();
  const timer = setTimeout(() => {
    reject(new OracleError('CHAIN_UNREACHABLE', `${what}: the chain did not answer within ${timeoutMs} ms`, { retryAfterSeconds: 5 }));
    controller.abort();
  }, timeoutMs);
  try {
    return await Promise.race([call(controller.signal), promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function chainCallWithin<T>(timeoutMs: number, what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withChainTimeout(timeoutMs, what, (signal) => chainCall(what, () => call(signal)));
}

/** Receipt of a mined transaction, or null. @param what names the read in an error message @throws OracleError CHAIN_UNREACHABLE */
export function findReceipt({ client }: ChainReader, hash: Hash, what = 'Reading a receipt'): Promise<TransactionReceipt | null> {
  return chainCall(what, () => client.getTransactionReceipt({ hash }).catch(nullIfNotFound));
}

/** A transaction, mined or pending, or null. @param what names the read in an error message @throws OracleError CHAIN_UNREACHABLE */
export function findTransaction({ client }: ChainReader, hash: Hash, what: string): Promise<Transaction | null> {
  return chainCall(what, () => client.getTransaction({ hash }).catch(nullIfNotFound));
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError) return null;
  throw error;
}

/** The first block at or after an instant; the latest block when all are earlier. @throws OracleError CHAIN_UNREACHABLE */
export async function findFirstBlockSince(chain: ChainReader, since: Date): Promise<bigint> {
  const isSince = async (blockNumber: bigint) => (await readBlockTime(chain, blockNumber)) >= since;
  return findFirstBlockWhere(isSince, 0n, await readBlockNumber(chain));
}

/** Bisects for the first block from `low` to `high` that passes `test`, given that `high` passes. */
export async function findFirstBlockWhere(test: (blockNumber: bigint) => Promise<boolean>, low: bigint, high: bigint): Promise<bigint> {
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await test(middle)) high = middle;
    else low = middle + 1n;
  }
  return high;
}
