import {
  type Abi,
  type Address,
  type Client,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  zeroHash,
} from 'viem';
import { getBlockNumber, getChainId } from 'viem/actions';
import { type ChainAddresses, MULTICALL3_ADDRESS } from '../chain/addresses.ts';
import { type AttestationLog, easAbi, getSchemaUid, type RawAttestation, readAttestedLogs, type SchemaName } from '../chain/eas/schemas.ts';
import { type BlockRange, chainCall, readLogRanges } from '../chain/rpc.ts';
import { getErrorMessage, isOracleError } from '../errors.ts';
import { DAY_MS, type Day, toInstantMs } from '../forecast/day.ts';
import type { DailyCloses } from '../forecast/fit.ts';
import {
  type AttestationEvidence,
  type CheckContext,
  checkAttestation,
  type ForecastEvidence,
  getCloseDays,
  isUnread,
  type Prediction,
  type PriceEvidence,
  type RecordGaps,
  type RivalEvidence,
  type Unread,
} from '../verify/evidence.ts';
import { createFindings, formatInstant } from '../verify/findings.ts';

/** Selects a forecast by attestation, by day and horizon, or as the newest of a horizon. */
export type ForecastQuery = ({ uid: Hex } | { day: Day; horizonDays: number } | { newestOf: number }) & { what: string };

/** Where evidence is looked for. */
export interface EvidenceSearch extends CheckContext {
  chain: AuditChain;
  signal?: AbortSignal | undefined;
}

export interface ForecastSearch extends EvidenceSearch {
  /** Independent closes; null: those on chain are not checked. */
  prices: AuditPrices | null;
  onProgress(stage: string, done: number, total: number): void;
}

/** Range of a search before and after the day of a forecast, and before the newest block. */
export const SEARCH_DAYS = 3;
/** Blocks of one search step for a resolution: about two days of a real chain. */
const BLOCKS_PER_STEP = 90_000;
const MAX_STEPS = 3;
/** On a chain whose clock is set, consecutive blocks may have the same timestamp. */
const BLOCKS_OF_ONE_TIME = 16;

/** The evidence of chain and prices about a forecast. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID */
export async function collectForecastEvidence(search: ForecastSearch, uid: Hex): Promise<ForecastEvidence> {
  const evidence = await readPrediction(search, uid);
  const [prediction] = decodeSilently(search, [evidence]);
  if (prediction === undefined) return { prediction: evidence, resolutions: [] };
  const { data, refUid } = prediction;
  const rivals = await findCommitments(search, getRangeAround(data.day));
  const previous = data.sequence === 1 || refUid === zeroHash ? null : await readPrediction(search, refUid);
  const isOpen = data.resolvesAt > search.now;
  const searched = isOpen ? { resolutions: [], search: 'complete' as const } : await findResolutions(search, prediction);
  // Events that lack the prediction may lack its resolution.
  const isResolved = searched.resolutions.length > 0;
  const doubt = { search: { problem: 'events of the endpoint lack its prediction, and may lack its resolution' } };
  const found = !isResolved && !isOpen && isUnread(evidence.blockAt) ? { ...searched, ...doubt } : searched;
  const closes = isResolved && (await search.prices?.closes(Object.values(getCloseDays(prediction))));
  const unnamed = { problem: 'no independent prices were named: --prices live, or a CSV file' };
  return {
    ...{ prediction: evidence, rivals, previous, ...found },
    prices: search.prices && closes ? { ...search.prices, closes } : unnamed,
    ...(!isResolved && { opening: { problem: 'the resolution reveals the values (Basic and Premium see salt and values before)' } }),
  };
}

/** The uid of a prediction, with a note where another one may be meant; null when no readable one is on chain. */
export async function findForecast(search: ForecastSearch, query: ForecastQuery): Promise<{ uid: Hex; note?: string } | null> {
  if ('newestOf' in query) return findNewestForecast(search, query.newestOf);
  if ('day' in query) {
    const { day, horizonDays } = query;
    const around = getCommitted(await findCommitments(search, getRangeAround(day))).filter(({ data }) => data.horizonDays === horizonDays);
    return around.find(({ data }) => data.day === day) ?? (await findByReference(search, { day, horizonDays }, around));
  }
  const { schema, refUID } = await readAttestation(search.chain, query.uid);
  return { uid: schema === getSchemaUid('resolution') ? refUID : query.uid };
}

/** Days that later forecasts are followed back for one that the events of the endpoint lack. */
const MAX_DAYS_BACK = 400;

/** A forecast that a later one refers to, day by day. @param around forecasts of its horizon that are known */
async function findByReference(
  search: ForecastSearch,
  { day, horizonDays }: { day: Day; horizonDays: number },
  around: readonly Prediction[],
): Promise<Prediction | null> {
  const later = around.filter(({ data }) => data.day > day).sort((one, other) => one.data.day - other.data.day);
  let from: Prediction | null = later[0] ?? (await findNewestPrediction(search, horizonDays));
  for (let step = 0; step < MAX_DAYS_BACK && from !== null && from.data.day > day && from.refUid !== zeroHash; step++) {
    search.onProgress('following references', step, from.data.day - day);
    [from = null] = decodeSilently(search, await readPredictions(search, [from.refUid]));
  }
  return from?.data.day === day && from.data.horizonDays === horizonDays ? from : null;
}

/** The newest forecast with an outcome on chain; without one, the newest of all. */
async function findNewestForecast(search: ForecastSearch, horizonDays: number): Promise<{ uid: Hex; note?: string } | null> {
  const [resolved] = await findResolvedLately(search, horizonDays);
  if (resolved !== undefined) return resolved;
  const [newest] = await findMadeLately(search, horizonDays);
  const note = `no ${horizonDays}-day outcome came on chain in the last ${SEARCH_DAYS} days; this is the newest forecast`;
  return newest === undefined ? null : { uid: newest.uid, note };
}

/** The newest prediction of a horizon that was made or resolved in the last days of the chain. @throws OracleError CHAIN_UNREACHABLE */
export async function findNewestPrediction(search: ForecastSearch, horizonDays: number): Promise<Prediction | null> {
  const [made] = await findMadeLately(search, horizonDays);
  return made ?? (await findResolvedLately(search, horizonDays))[0] ?? null;
}

const newestFirst = (found: readonly Prediction[], horizonDays: number) =>
  found.filter(({ data }) => data.horizonDays === horizonDays).sort((a, b) => b.data.day - a.data.day);

async function findMadeLately(search: ForecastSearch, horizonDays: number): Promise<Prediction[]> {
  const { range } = await getLastDays(search);
  return newestFirst(getCommitted(await findCommitments(search, range)), horizonDays);
}

async function findResolvedLately(search: ForecastSearch, horizonDays: number): Promise<Prediction[]> {
  const { range, number } = await getLastDays(search);
  const { first } = await findFirstBlocks(search.chain, [range.since]);
  const resolutions = await readRange(search, 'resolution', first[0], number);
  const uids = new Set(resolutions.flatMap(({ content }) => content?.refUID ?? []));
  return newestFirst(decodeSilently(search, await readPredictions(search, [...uids])), horizonDays);
}

/** Whether the wallet has attested predictions in the last days of the chain, readable or not. @throws OracleError CHAIN_UNREACHABLE */
export async function hasAttestedLately(search: ForecastSearch): Promise<boolean> {
  const { range, number } = await getLastDays(search);
  const { first } = await findFirstBlocks(search.chain, [range.since]);
  return (await findAttestations(search.chain, 'prediction', { ...search, fromBlock: first[0], throughBlock: number })).length > 0;
}

async function getLastDays({ chain }: ForecastSearch) {
  const { at, number } = await readBlock(chain, 'latest');
  return { number, range: { since: new Date(at.getTime() - SEARCH_DAYS * DAY_MS), until: new Date(at.getTime() + 1_000) } };
}

function getRangeAround(day: Day) {
  return { since: new Date(toInstantMs(day - SEARCH_DAYS)), until: new Date(toInstantMs(day + SEARCH_DAYS)) };
}

const getCommitted = (found: RivalEvidence): readonly Prediction[] => (isUnread(found) ? [] : found.committed);

/** Predictions of the wallet in a time range, `until` exclusive. @throws OracleError CHAIN_UNREACHABLE; the reason of `signal` */
export async function findCommitments(
  search: EvidenceSearch,
  { since, until }: { since: Date; until: Date },
  { maxBlocks = Number.POSITIVE_INFINITY, maxPredictions = Number.POSITIVE_INFINITY } = {},
): Promise<RivalEvidence> {
  const { first, newest } = await findFirstBlocks(search.chain, [since, until]);
  const blocks = first[1] - first[0];
  if (blocks > maxBlocks) return { problem: `${blocks} blocks are too many to search at once: check one forecast by itself` };
  const logs = await findAttestations(search.chain, 'prediction', { ...search, fromBlock: first[0], throughBlock: first[1] - 1 });
  const found = { since, newest: newest.at };
  if (logs.length > maxPredictions) return { ...found, committed: [], tooMany: maxPredictions };
  const uids = logs.map(({ uid }) => uid);
  const evidence = await readPredictions(search, uids);
  if (evidence.some(({ uid, content }) => content.uid !== uid))
    return { problem: 'the endpoint lists an attestation but does not return it' };
  // What is of another wallet or schema, or cannot be decoded, commits to nothing.
  return { ...found, committed: decodeSilently(search, evidence) };
}

/** Resolutions of a prediction from a day before the end of its window on, within `MAX_STEPS` steps. */
async function findResolutions(search: ForecastSearch, { uid, data }: Prediction) {
  const { first, newest } = await findFirstBlocks(search.chain, [new Date(data.resolvesAt.getTime() - DAY_MS)]);
  let next = first[0];
  for (let step = 0; step < MAX_STEPS && next <= newest.number; step++, next += BLOCKS_PER_STEP) {
    search.onProgress('looking for the resolution', step, MAX_STEPS);
    const read = await readRange(search, 'resolution', next, Math.min(newest.number, next + BLOCKS_PER_STEP - 1));
    const resolutions = read.filter(({ content }) => content?.refUID === uid);
    if (resolutions.length > 0) return { resolutions, search: 'complete' as const };
  }
  if (next > newest.number) return { resolutions: [], search: 'complete' as const };
  const problem = `its resolution was searched up to block ${next - 1} of ${newest.number}; svc audit searches all`;
  return { resolutions: [], search: { problem } };
}

/** Discards findings: what cannot be read is no forecast. */
function decodeSilently(search: EvidenceSearch, evidence: readonly AttestationEvidence<'prediction'>[]): Prediction[] {
  return evidence.flatMap((one) => checkAttestation(one, search, createFindings()) ?? []);
}

/** Undated: their uids are digests of their times, too. */
async function readPredictions({ chain, signal }: EvidenceSearch, uids: readonly Hex[]) {
  const contents = await readAttestations(chain, uids, { signal });
  return uids.map((uid, index) => ({ uid, schema: 'prediction' as const, content: contents[index]!, blockAt: null }));
}

function readRange<S extends SchemaName>(search: EvidenceSearch, schema: S, fromBlock: number, throughBlock: number) {
  const { chain, attester, signal } = search;
  return readSchema(chain, schema, createReadingState(fromBlock), { attester, throughBlock, signal });
}

/** The prediction of a uid, dated by the block of its event; the time that the contract returns only narrows the search. */
async function readPrediction(search: EvidenceSearch, uid: Hex): Promise<AttestationEvidence<'prediction'>> {
  const content = await readAttestation(search.chain, uid);
  const problem = 'the endpoint returns it by its uid, and lists no event of it in the block of its time';
  const undated = { uid, schema: 'prediction' as const, content, blockAt: { problem } };
  if (content.uid !== uid) return undated;
  const { first, newest } = await findFirstBlocks(search.chain, [toDate(content.time)]);
  const made = await readRange(search, 'prediction', first[0], Math.min(newest.number, first[0] + BLOCKS_OF_ONE_TIME));
  return made.find((one) => one.uid === uid) ?? undated;
}

/** Independent daily closes (USD) at 00:00 UTC of the next day. */
export interface AuditPrices extends Omit<PriceEvidence, 'closes'> {
  /** The available closes of these days. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  closes(days: readonly Day[]): Promise<ReadonlyMap<Day, number>>;
  /** Closes since the first training day; null when they do not reach back as far. */
  history(): Promise<DailyCloses | null>;
}

/** A chain as Node and browsers read it. */
export interface AuditChain<C extends Client = Client> {
  readonly client: C;
  readonly addresses: Pick<ChainAddresses, 'eas' | 'schemaRegistry'>;
  readonly chainId: number;
  /** Maximum concurrent calls. */
  readonly parallel: number;
  /** Whether concurrent calls are sent as one request. Absent: not. */
  readonly isBatching?: boolean;
  /** Whether many contract calls in one are answered; cleared at the first that is not. Absent: not tried. */
  readonly multicall?: { isServed: boolean };
}

export interface ClientOptions {
  /** Undefined: one call a request. */
  batchSize?: number;
  /** False: a failure is final. */
  retries: boolean;
}

/** OP Stack chains that are known to have EAS as a predeploy: Base, OP, Unichain, Soneium, Ink, and the testnets of Base and OP. */
export const OP_STACK_CHAIN_IDS: readonly number[] = [10, 130, 1_868, 8_453, 57_073, 84_532, 11_155_420];

const BATCH_SIZE = 50;
const MAX_CONCURRENT_BATCHES = 4;
const MAX_CONCURRENT_CALLS = 12;

/** Connects to a chain, with JSON-RPC batching if the endpoint supports it. @throws OracleError CHAIN_UNREACHABLE */
export async function connectChain<C extends Client>(createClient: (options: ClientOptions) => C, addresses: AuditChain['addresses']) {
  const probe = createClient({ batchSize: BATCH_SIZE, retries: false });
  const answers = await Promise.all([getChainId(probe), getBlockNumber(probe)]).catch(() => null);
  const batchSize = answers === null ? undefined : BATCH_SIZE;
  const client = createClient({ batchSize, retries: true });
  const chainId = answers === null ? await chainCall('Asking for the chain id', () => getChainId(client)) : answers[0];
  const parallel = batchSize === undefined ? MAX_CONCURRENT_CALLS : batchSize * MAX_CONCURRENT_BATCHES;
  return { client, addresses, chainId, parallel, isBatching: batchSize !== undefined, multicall: { isServed: true } };
}

/** Without the deployless and multicall variants of the library, which are half of its size. @param blockNumber default: the newest */
export async function callContract<Result>(
  { client }: AuditChain,
  call: { address: Address; abi: Abi; functionName: string; args: readonly unknown[] },
  blockNumber?: number,
): Promise<Result> {
  const block = blockNumber === undefined ? 'latest' : numberToHex(blockNumber);
  const data = await client.request({ method: 'eth_call', params: [{ to: call.address, data: encodeFunctionData(call) }, block] });
  return decodeFunctionResult({ ...call, data }) as Result;
}

const buildAttestationCall = ({ addresses }: AuditChain, uid: Hex) => ({
  ...{ address: addresses.eas, abi: easAbi as Abi },
  ...{ functionName: 'getAttestation', args: [uid] },
});

/**
 * Returns a zero uid for an attestation that the chain denies at a block that the endpoint knows: the newest state may be that of a node that
 * is behind. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another attestation
 */
export async function readAttestation(chain: AuditChain, uid: Hex): Promise<RawAttestation> {
  return chainCall('Reading an attestation', async () => {
    const found = requireMeant(uid, await callContract<RawAttestation>(chain, buildAttestationCall(chain, uid)));
    if (found.uid !== zeroHash) return found;
    const newest = Number(await getBlockNumber(chain.client));
    return requireMeant(uid, await callContract<RawAttestation>(chain, buildAttestationCall(chain, uid), newest));
  });
}

/** An endpoint that loses one response of a batch shifts the others. */
function requireMeant(uid: Hex, found: RawAttestation): RawAttestation {
  if (found.uid !== uid && found.uid !== zeroHash) throw new Error(`asked for ${uid}, the endpoint answers with ${found.uid}`);
  return found;
}

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

/** A request of so many is shorter than 64 KiB, the limit of many endpoints. */
const ATTESTATIONS_PER_CALL = 100;
/** Fewer are one batch of single calls. */
const MIN_ATTESTATIONS_PER_CALL = 20;
/** The transport would join concurrent ones to a request that is too long. */
const MAX_CONCURRENT_MULTICALLS = 1;

/** In order; many at a time where the chain has Multicall3 and the endpoint takes such calls. @throws as `readAttestation`; the reason of `signal` */
async function readAttestations(
  chain: AuditChain,
  uids: readonly Hex[],
  { signal, onRead }: { signal?: AbortSignal | undefined; onRead?(uid: Hex, content: RawAttestation): void },
) {
  const readOne = async (uid: Hex) => {
    const content = await readAttestation(chain, uid);
    onRead?.(uid, content);
    return content;
  };
  const readEach = (some: readonly Hex[]) => readInBatches(some, { parallel: chain.parallel, signal, read: readOne });
  if (uids.length < MIN_ATTESTATIONS_PER_CALL || chain.multicall?.isServed !== true) return readEach(uids);
  const chunks = Array.from({ length: Math.ceil(uids.length / ATTESTATIONS_PER_CALL) }, (_, index) =>
    uids.slice(index * ATTESTATIONS_PER_CALL, (index + 1) * ATTESTATIONS_PER_CALL),
  );
  const read = async (chunk: readonly Hex[]) => {
    const found = await readTogether(chain, chunk);
    signal?.throwIfAborted();
    if (found === null || found.some(({ uid }) => uid === zeroHash)) return readEach(chunk);
    for (const [index, uid] of chunk.entries()) onRead?.(uid, found[index]!);
    return found;
  };
  return (await readInBatches(chunks, { parallel: MAX_CONCURRENT_MULTICALLS, signal, read })).flat();
}

/** Null where the chain or its endpoint does not answer such a call: what is wrong shows in single calls. */
async function readTogether(chain: AuditChain, uids: readonly Hex[]): Promise<RawAttestation[] | null> {
  if (chain.multicall?.isServed !== true) return null;
  const calls = uids.map((uid) => buildAttestationCall(chain, uid));
  const args = [calls.map((call) => ({ target: call.address, allowFailure: false, callData: encodeFunctionData(call) }))];
  try {
    const call = { address: MULTICALL3_ADDRESS, abi: multicallAbi as Abi, functionName: 'aggregate3', args };
    const results = await callContract<readonly { returnData: Hex }[]>(chain, call);
    return uids.map((uid, index) =>
      requireMeant(uid, decodeFunctionResult({ ...calls[index]!, data: results[index]!.returnData }) as RawAttestation),
    );
  } catch {
    chain.multicall.isServed = false;
    return null;
  }
}

type BlockTime = Awaited<ReturnType<typeof readBlock>>;

/** A block by its number, or the newest. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another block */
export async function readBlock({ client }: AuditChain, which: number | 'latest') {
  return chainCall('Reading a block', async () => {
    const name = which === 'latest' ? which : numberToHex(which);
    const answer = await client.request({ method: 'eth_getBlockByNumber', params: [name, false] });
    const block = { number: Number(answer?.number ?? Number.NaN), at: new Date(Number(answer?.timestamp ?? Number.NaN) * 1000) };
    const isThis = which === 'latest' ? Number.isSafeInteger(block.number) : block.number === which;
    if (!isThis || Number.isNaN(block.at.getTime())) throw new Error(`asked for block ${which}, the endpoint answers with another block`);
    return block;
  });
}

interface BatchOptions<T, R> {
  parallel: number;
  signal?: AbortSignal | undefined;
  read(item: T): Promise<R>;
  onRead?(done: number): void;
}

/** Reads all items in order, with at most `parallel` concurrent calls. */
export async function readInBatches<T, R>(items: readonly T[], { parallel, signal, read, onRead }: BatchOptions<T, R>): Promise<R[]> {
  const found: R[] = [];
  while (found.length < items.length) {
    signal?.throwIfAborted();
    found.push(...(await Promise.all(items.slice(found.length, found.length + Math.ceil(parallel)).map(read))));
    onRead?.(found.length);
  }
  return found;
}

interface RecordSearch {
  attester: Address;
  throughBlock: number;
  signal?: AbortSignal | undefined;
  onProgress?(stage: string, done: number, total: number): void;
}

interface AttestationSearch extends Omit<RecordSearch, 'onProgress'> {
  fromBlock: number;
  /** Called for each range that was read. */
  onRange?(found: readonly AttestationLog[], nextBlock: number): void;
}

/** Finds all attestations of a schema by the attester, once each, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function findAttestations(chain: AuditChain, schema: SchemaName, options: AttestationSearch): Promise<AttestationLog[]> {
  const { attester, fromBlock: from, throughBlock: to, signal, onRange } = options;
  const found = new Map<string, AttestationLog>();
  const read = (range: BlockRange) => readAttestedLogs(chain, { schema, attester }, range);
  for await (const range of readLogRanges(chain.client, { from, to, read, signal, isBatching: chain.isBatching ?? false })) {
    for (const one of range.logs) if (!found.has(one.uid)) found.set(one.uid, one);
    onRange?.(range.logs, range.to + 1);
  }
  return [...found.values()];
}

/** Blocks read per round between the two around an instant. */
const SPREAD = 14;

/** Finds the first blocks at or after some instants; newest + 1 when all are earlier. @throws OracleError CHAIN_UNREACHABLE */
export async function findFirstBlocks(chain: AuditChain, instants: readonly Date[]) {
  const [first, newest] = await Promise.all([readBlock(chain, 0), readBlock(chain, 'latest')]);
  const known = [first, newest];
  // Each round narrows the gap, whatever times the endpoint claims; with even block times the second one hits.
  for (;;) {
    known.sort((a, b) => a.number - b.number);
    const numbers = new Set(instants.flatMap((at) => guessBlocks(known, at)));
    if (numbers.size === 0) return { first: instants.map((at) => getGap(known, at).after?.number ?? newest.number + 1), newest };
    known.push(...(await Promise.all([...numbers].map((number) => readBlock(chain, number)))));
  }
}

/** The known blocks around an instant. @param known ascending */
function getGap(known: readonly BlockTime[], at: Date): { before: BlockTime | undefined; after: BlockTime | undefined } {
  const index = known.findIndex((block) => block.at >= at);
  return index < 0 ? { before: known.at(-1), after: undefined } : { before: known[index - 1], after: known[index] };
}

/** Numbers to read next: interpolated by time, and evenly spread in case that is off. */
function guessBlocks(known: readonly BlockTime[], at: Date): number[] {
  const { before, after } = getGap(known, at);
  if (before === undefined || after === undefined) return [];
  const room = after.number - before.number;
  const guess = Math.ceil((room * (at.getTime() - before.at.getTime())) / (after.at.getTime() - before.at.getTime()));
  const spread = Array.from({ length: SPREAD }, (_, index) => Math.round((room * (index + 1)) / (SPREAD + 1)));
  return [guess - 1, guess, ...spread].filter((step) => step > 0 && step < room).map((step) => before.number + step);
}

/** What has been read of a record; a reading that was interrupted continues with it. */
export type ReadingState = ReturnType<typeof createReadingState>;

export function createReadingState(fromBlock: number) {
  return {
    found: { prediction: [] as AttestationLog[], resolution: [] as AttestationLog[] },
    /** First block whose events have not been read. */
    nextBlock: { prediction: fromBlock, resolution: fromBlock },
    contents: new Map<Hex, RawAttestation>(),
    /** By block number. */
    blockTimes: new Map<number, Date>(),
  };
}

/**
 * Reads the attester's attestations with their blocks, in chain order; `state` is extended as they come.
 * @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function readRecord(chain: AuditChain, state: ReadingState, options: RecordSearch): Promise<AttestationEvidence[]> {
  return [...(await readSchema(chain, 'prediction', state, options)), ...(await readSchema(chain, 'resolution', state, options))];
}

/** Of one schema; see `readRecord`. */
async function readSchema<S extends SchemaName>(chain: AuditChain, schema: S, state: ReadingState, options: RecordSearch) {
  const { nextBlock, contents, blockTimes } = state;
  const { attester, throughBlock, signal, onProgress } = options;
  const [logs, fromBlock] = [state.found[schema], nextBlock[schema]];
  await findAttestations(chain, schema, {
    ...{ attester, fromBlock, throughBlock, signal },
    onRange(found, next) {
      for (const { blockAt, ...log } of found) {
        logs.push(log);
        if (blockAt !== undefined) blockTimes.set(log.blockNumber, blockAt);
      }
      nextBlock[schema] = next;
      onProgress?.(`looking for ${schema}s`, next - fromBlock, throughBlock + 1 - fromBlock);
    },
  });
  const uids = logs.map(({ uid }) => uid).filter((uid) => !contents.has(uid));
  let read = logs.length - uids.length;
  await readAttestations(chain, uids, {
    signal,
    onRead(uid, content) {
      contents.set(uid, content);
      read += 1;
      onProgress?.(`reading ${schema}s`, read, logs.length);
    },
  });
  const blocks = new Set(logs.map(({ blockNumber }) => blockNumber).filter((blockNumber) => !blockTimes.has(blockNumber)));
  const readTime = async (block: number) => void blockTimes.set(block, (await readBlock(chain, block)).at);
  await readInBatches([...blocks], { parallel: chain.parallel, signal, read: readTime });
  return logs.map(({ uid, blockNumber }) => {
    return { uid, schema, content: contents.get(uid) ?? null, blockAt: blockTimes.get(blockNumber) ?? null };
  });
}

/** An attestation that a claim or another attestation names. */
export interface NamedAttestation {
  uid: Hex;
  schema: SchemaName;
  /** Time by which it was on chain; null: before the newest block, since an attestation on chain refers to it. */
  madeBy: Date | null;
}

/** Bounds what a contract can make up: each attestation may name another one. */
const MAX_LOOKUPS = 100_000;
const UNLISTED = 'the endpoint returns it by its uid, and lists no event of it';

/**
 * Looks up what the events of an endpoint lack: attestations that claims, resolutions and later predictions name. What the chain denies at a
 * block that the endpoint knows stays missing, which is a difference; what cannot be read is named in the gaps.
 * @returns the evidence in chain order @throws OracleError CHAIN_UNREACHABLE; the reason of `signal`
 */
export async function completeRecord(
  chain: AuditChain,
  listed: readonly AttestationEvidence[],
  { attester, claimed, fromBlock, throughBlock, signal }: AttestationSearch & { claimed: readonly NamedAttestation[] },
) {
  const newest = await readBlock(chain, 'latest');
  const since = fromBlock === 0 ? null : (await readBlock(chain, fromBlock)).at;
  const known = new Set(listed.map(({ uid }) => uid.toLowerCase()));
  const unread = new Map<string, string>();
  const found: { named: NamedAttestation; content: RawAttestation }[] = [];
  let next = [...listed.flatMap(({ content }) => getReference(content)), ...claimed];
  for (let lookups = 0; next.length > 0 && lookups < MAX_LOOKUPS; lookups += next.length) {
    // Of an attestation that is named more than once, the earliest time counts: a claim cannot put off what the chain denies.
    const latestFirst = next.toSorted((one, other) => Number(other.madeBy) - Number(one.madeBy));
    const byUid = new Map(latestFirst.map((one) => [one.uid.toLowerCase(), one]));
    const asked = [...byUid.values()].filter(({ uid }) => !known.has(uid.toLowerCase()));
    for (const { uid } of asked) known.add(uid.toLowerCase());
    const read = ({ uid }: NamedAttestation): Promise<RawAttestation | Unread> =>
      readAttestation(chain, uid).catch((error: unknown) => {
        if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
        return { problem: `it could not be read: ${getErrorMessage(error)}` };
      });
    const contents = await readInBatches(asked, { parallel: chain.parallel, signal, read });
    next = asked.flatMap((named, index) => {
      const content = contents[index]!;
      const problem = isUnread(content) ? content.problem : explainDenial(named, content, newest, throughBlock);
      if (problem !== null) unread.set(named.uid.toLowerCase(), problem);
      if (isUnread(content) || content.schema !== getSchemaUid(named.schema)) return [];
      if (content.attester.toLowerCase() !== attester.toLowerCase()) return [];
      if (since !== null && toDate(content.time) < since) return [];
      found.push({ named, content });
      return getReference(content);
    });
  }
  const unlisted = await dateUnlisted(chain, found);
  const gaps: RecordGaps = { unread, lacksEvents: unlisted.length > 0, newestAt: newest.at };
  const evidence = unlisted.length === 0 ? [...listed] : [...listed, ...unlisted].sort((one, other) => getTime(one) - getTime(other));
  return { evidence, gaps };
}

/** The previous prediction, or the one that is resolved. */
function getReference(content: AttestationEvidence['content']): NamedAttestation[] {
  const isReadable = content !== null && !isUnread(content) && content.uid !== zeroHash && content.refUID !== zeroHash;
  return isReadable ? [{ uid: content.refUID, schema: 'prediction', madeBy: null }] : [];
}

/** Why a denial proves nothing: the endpoint may not have got to its block yet. Null for a proof, and for what is there. */
function explainDenial({ madeBy }: NamedAttestation, { uid }: RawAttestation, newest: BlockTime, throughBlock: number): string | null {
  if (uid !== zeroHash || (newest.number >= throughBlock && (madeBy === null || newest.at >= madeBy))) return null;
  return `the endpoint does not have it, and its newest block is only of ${formatInstant(newest.at)}`;
}

/** Of the time that a contract stores, in seconds. */
const toDate = (time: bigint) => new Date(Number(time) * 1_000);

/** The block of an unlisted attestation is not known: that a block has the time that the contract stores is all that can be checked. */
async function dateUnlisted(chain: AuditChain, found: readonly { named: NamedAttestation; content: RawAttestation }[]) {
  if (found.length === 0) return [];
  const times = found.map(({ content }) => toDate(content.time));
  const { first, newest } = await findFirstBlocks(chain, times);
  const blocks = [...new Set(first.filter((number) => number <= newest.number))];
  const read = async (number: number) => [number, (await readBlock(chain, number)).at] as const;
  const blockTimes = new Map(await readInBatches(blocks, { parallel: chain.parallel, read }));
  return found.map(({ named: { schema }, content }, index): AttestationEvidence => {
    const blockAt = blockTimes.get(first[index]!);
    const isOfBlock = blockAt === undefined || blockAt.getTime() === times[index]!.getTime();
    return { uid: content.uid, schema, content, blockAt: isOfBlock ? { problem: UNLISTED } : blockAt };
  });
}

function getTime({ blockAt, content }: AttestationEvidence): number {
  if (blockAt instanceof Date) return blockAt.getTime();
  return content === null || isUnread(content) ? 0 : Number(content.time) * 1_000;
}
