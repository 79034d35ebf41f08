import { callAll, type RpcOutcome, RpcUnavailableError, requireResult } from './rpc.ts';

/** Finds blocks by timestamp over JSON-RPC. */

/** `time` in seconds since 1970. */
interface Block {
  number: number;
  time: number;
  hash?: string;
}
export interface ChainRequest {
  endpoint: string;
  signal: AbortSignal;
}
/** Seconds since 1970, `until` exclusive. */
interface TimeRange {
  since: number;
  until: number;
}

const MAX_ROUNDS = 12;
/** Blocks probed per round between two known blocks. */
const BLOCKS_PER_ROUND = 14;
/** Narrowing the range further would cost more than reading the extra blocks. */
const MAX_SLACK_BLOCKS = 8;
/** Shorter chains are local ones, whose block times are uneven. */
const UNEVEN_BELOW_BLOCKS = 100_000;
/** Older blocks are final. */
const SETTLED_SECONDS = 3_600;

/** Known blocks by endpoint, ascending. The last one is not final and only serves as a hint. */
const blockCache = new Map<string, readonly Block[]>();

export function buildFirstCalls(time: TimeRange, endpoint: string) {
  const known = blockCache.get(endpoint) ?? [];
  return buildBlockCalls(['0x0', 'latest', ...guessBlockNumbers(known, time, 0).map(toHexNumber)]);
}

/**
 * The block range of a time range, up to a few blocks wider; empty when `from` > `to`. One round suffices when block times are even.
 * @param firstAnswers answers to `buildFirstCalls`
 * @returns `newest` block of the chain
 * @throws {RpcUnavailableError}
 */
export async function findBlocksBetween(
  time: TimeRange,
  request: ChainRequest,
  firstAnswers?: readonly RpcOutcome[],
): Promise<{ from: number; to: number; newest: Block }> {
  const { endpoint, signal } = request;
  const answers = firstAnswers ?? (await callAll(endpoint, buildFirstCalls(time, endpoint), { signal }));
  const [first, newest] = answers.slice(0, 2).map(parseBlock);
  const others = answers.slice(2).filter((answer) => 'result' in answer && answer.result !== null);
  const known = [...getCachedBlocks(endpoint, first, newest), newest, ...others.map(parseBlock)];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    known.sort((a, b) => a.number - b.number);
    const numbers = guessBlockNumbers(known, time, round);
    if (numbers.length === 0) return toBlockRange(known, time, { endpoint, newest });
    known.push(...(await callAll(endpoint, buildBlockCalls(numbers.map(toHexNumber)), { signal })).map(parseBlock));
  }
  blockCache.delete(endpoint);
  throw new RpcUnavailableError('the times of its blocks are inconsistent');
}

export function toHexNumber(number: number) {
  return `0x${number.toString(16)}`;
}

/** Discards the cache when the genesis block differs, as another chain may run at the same URL. */
function getCachedBlocks(endpoint: string, first: Block, newest: Block) {
  const blocks = blockCache.get(endpoint)?.slice(0, -1) ?? [];
  const isSame = blocks[0]?.hash === first.hash && blocks[0]?.time === first.time && (blocks.at(-1)?.number ?? 0) < newest.number;
  return isSame ? blocks : [first];
}

/** @param known ascending */
function toBlockRange(known: readonly Block[], { since, until }: TimeRange, { endpoint, newest }: { endpoint: string; newest: Block }) {
  const settled = known.filter((block) => block.time < newest.time - SETTLED_SECONDS);
  if (settled.length > 0) blockCache.set(endpoint, [...settled, newest]);
  const { before } = findGap(known, since);
  const { after } = findGap(known, until);
  return { from: (before?.number ?? -1) + 1, to: (after?.number ?? newest.number + 1) - 1, newest };
}

/** The known blocks around a time. */
interface Gap {
  time: number;
  before: Block | undefined;
  after: Block | undefined;
}

/** @param known ascending */
function findGap(known: readonly Block[], time: number): Gap {
  const index = known.findIndex((block) => block.time >= time);
  return index < 0 ? { time, before: known.at(-1), after: undefined } : { time, before: known[index - 1], after: known[index] };
}

/** Numbers of the blocks to fetch next. */
function guessBlockNumbers(known: readonly Block[], { since, until }: TimeRange, round: number) {
  const more = round > 0 || Number(known.at(-1)?.number) < UNEVEN_BELOW_BLOCKS ? BLOCKS_PER_ROUND : 0;
  return [...new Set([since, until].flatMap((at) => guessInGap(findGap(known, at), more)))];
}

/** Interpolates the time in a gap; `more` evenly spread blocks narrow it down when the interpolation is off. */
function guessInGap({ time, before, after }: Gap, more: number) {
  if (before === undefined || after === undefined) return [];
  const room = after.number - before.number;
  if (room <= 1 + MAX_SLACK_BLOCKS) return [];
  const guess = Math.ceil((room * (time - before.time)) / (after.time - before.time));
  const spread = Array.from({ length: more }, (_, index) => Math.round((room * (index + 1)) / (more + 1)));
  return [guess - 1, guess, ...spread].filter((step) => step > 0 && step < room).map((step) => before.number + step);
}

function buildBlockCalls(names: readonly string[]) {
  return names.map((name) => ({ method: 'eth_getBlockByNumber', params: [name, false] }));
}

function parseBlock(answer: RpcOutcome): Block {
  const { number, timestamp, hash } = (requireResult(answer) as { number?: string; timestamp?: string; hash?: string } | null) ?? {};
  const block = { number: Number(number), time: Number(timestamp), hash };
  if (!Number.isSafeInteger(block.number) || !Number.isSafeInteger(block.time))
    throw new RpcUnavailableError('it returns a block without a time');
  return block;
}
