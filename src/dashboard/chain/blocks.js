import { callAll, RpcUnavailableError, requireResult } from './rpc.js';

/** @import { RpcOutcome } from './rpc.js' */

/** Blocks by their time, as the reader's endpoint tells them. */

/** @typedef {{ number: number, time: number, hash?: string }} Block `time` in seconds since 1970 */
/** @typedef {{ endpoint: string, signal: AbortSignal }} ChainRequest */
/** @typedef {{ since: number, until: number }} TimeRange in seconds since 1970, `until` not in it */

const MAX_ROUNDS = 12;
/** Blocks of a gap that are looked at in one round. */
const BLOCKS_PER_ROUND = 14;
/** So many blocks more than those of a time are not worth another question. */
const MAX_SLACK_BLOCKS = 8;
/** Of a chain that has fewer they come unevenly. */
const UNEVEN_BELOW_BLOCKS = 100_000;
/** Older blocks stay what they are. */
const SETTLED_SECONDS = 3_600;

/** By endpoint, in order; the last one only to guess by. @type {Map<string, readonly Block[]>} */
const blockCache = new Map();

/** What a search begins with. @param {TimeRange} time @param {string} endpoint */
export function buildFirstCalls(time, endpoint) {
  const known = blockCache.get(endpoint) ?? [];
  return buildBlockCalls(['0x0', 'latest', ...guessBlockNumbers(known, time, 0).map(toHexNumber)]);
}

/**
 * The blocks of a time, `from` and `to` among them, and a few around them; none where `from` is beyond `to`. Where blocks come evenly,
 * one round of asking tells.
 * @param {TimeRange} time
 * @param {ChainRequest} request
 * @param {readonly RpcOutcome[]} [firstAnswers] to the first calls
 * @returns {Promise<{ from: number, to: number, newest: Block }>} `newest` of the whole chain
 * @throws {RpcUnavailableError}
 */
export async function findBlocksBetween(time, request, firstAnswers) {
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
  throw new RpcUnavailableError('the times of its blocks lead nowhere');
}

/** @param {number} number */
export function toHexNumber(number) {
  return `0x${number.toString(16)}`;
}

/** What another chain at the same place has told is nothing. @param {string} endpoint @param {Block} first @param {Block} newest */
function getCachedBlocks(endpoint, first, newest) {
  const blocks = blockCache.get(endpoint)?.slice(0, -1) ?? [];
  const isSame = blocks[0]?.hash === first.hash && blocks[0]?.time === first.time && (blocks.at(-1)?.number ?? 0) < newest.number;
  return isSame ? blocks : [first];
}

/** @param {readonly Block[]} known in their order @param {TimeRange} time @param {{ endpoint: string, newest: Block }} chain */
function toBlockRange(known, { since, until }, { endpoint, newest }) {
  const settled = known.filter((block) => block.time < newest.time - SETTLED_SECONDS);
  if (settled.length > 0) blockCache.set(endpoint, [...settled, newest]);
  const { before } = findGap(known, since);
  const { after } = findGap(known, until);
  return { from: (before?.number ?? -1) + 1, to: (after?.number ?? newest.number + 1) - 1, newest };
}

/** The known blocks around a time. @typedef {{ time: number, before: Block | undefined, after: Block | undefined }} Gap */

/** @param {readonly Block[]} known in their order @param {number} time @returns {Gap} */
function findGap(known, time) {
  const index = known.findIndex((block) => block.time >= time);
  return index < 0 ? { time, before: known.at(-1), after: undefined } : { time, before: known[index - 1], after: known[index] };
}

/** Numbers of the blocks to look at next. @param {readonly Block[]} known @param {TimeRange} time @param {number} round */
function guessBlockNumbers(known, { since, until }, round) {
  const more = round > 0 || Number(known.at(-1)?.number) < UNEVEN_BELOW_BLOCKS ? BLOCKS_PER_ROUND : 0;
  return [...new Set([since, until].flatMap((at) => guessInGap(findGap(known, at), more)))];
}

/**
 * Numbers of blocks that lie in a gap: where the time should be, and more that narrow it down wherever it is.
 * @param {Gap} gap
 * @param {number} more
 */
function guessInGap({ time, before, after }, more) {
  if (before === undefined || after === undefined) return [];
  const room = after.number - before.number;
  if (room <= 1 + MAX_SLACK_BLOCKS) return [];
  const guess = Math.ceil((room * (time - before.time)) / (after.time - before.time));
  const spread = Array.from({ length: more }, (_, index) => Math.round((room * (index + 1)) / (more + 1)));
  return [guess - 1, guess, ...spread].filter((step) => step > 0 && step < room).map((step) => before.number + step);
}

/** @param {readonly string[]} names */
function buildBlockCalls(names) {
  return names.map((name) => ({ method: 'eth_getBlockByNumber', params: [name, false] }));
}

/** @param {RpcOutcome} answer @returns {Block} */
function parseBlock(answer) {
  const { number, timestamp, hash } = /** @type {any} */ (requireResult(answer)) ?? {};
  const block = { number: Number(number), time: Number(timestamp), hash };
  if (!Number.isSafeInteger(block.number) || !Number.isSafeInteger(block.time)) throw new RpcUnavailableError('it has no time for a block');
  return block;
}
