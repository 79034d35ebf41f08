import { callAll, resultOf, Unanswered } from './rpc.js';

/** Blocks by their time, as the reader's endpoint tells them. */

/** @typedef {{ number: number, time: number }} Block `time` in seconds since 1970 */
/** @typedef {{ endpoint: string, signal: AbortSignal }} Asked */

const MOST_ROUNDS = 12;
/** Blocks of a gap that are looked at in one round. */
const SPREAD = 14;

/**
 * The blocks of a time, `from` and `to` among them; none where `from` is beyond `to`. Where blocks come evenly, one round of asking tells.
 * @param {{ since: number, until: number }} time in seconds since 1970, `until` not among them
 * @param {Asked} asked
 * @returns {Promise<{ from: number, to: number, newest: Block }>} `newest` of the whole chain
 * @throws {Unanswered}
 */
export async function blocksBetween({ since, until }, asked) {
  const known = await blocksOf(['0x0', 'latest'], asked);
  const newest = known[1];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const [first, last] = [since, until].map((time) => gapAt(known, time));
    const numbers = new Set([first, last].flatMap((gap) => within(gap, round === 0 ? 0 : SPREAD)));
    if (numbers.size === 0) return { from: first.after?.number ?? newest.number + 1, to: last.before?.number ?? -1, newest };
    known.push(...(await blocksOf([...numbers].map(hexNumber), asked)));
    known.sort((a, b) => a.number - b.number);
  }
  throw new Unanswered('the times of its blocks lead nowhere');
}

/** @param {number} number */
export function hexNumber(number) {
  return `0x${number.toString(16)}`;
}

/** The known blocks around a time. @typedef {{ time: number, before: Block | undefined, after: Block | undefined }} Gap */

/** @param {readonly Block[]} known in their order @param {number} time @returns {Gap} */
function gapAt(known, time) {
  const index = known.findIndex((block) => block.time >= time);
  return index < 0 ? { time, before: known.at(-1), after: undefined } : { time, before: known[index - 1], after: known[index] };
}

/**
 * Numbers of blocks that lie in a gap: where the time should be, and more that narrow it down wherever it is.
 * @param {Gap} gap
 * @param {number} more
 */
function within({ time, before, after }, more) {
  if (before === undefined || after === undefined) return [];
  const room = after.number - before.number;
  const guess = Math.ceil((room * (time - before.time)) / (after.time - before.time));
  const spread = Array.from({ length: more }, (_, index) => Math.round((room * (index + 1)) / (more + 1)));
  return [guess - 1, guess, ...spread].filter((step) => step > 0 && step < room).map((step) => before.number + step);
}

/** @param {readonly string[]} names @param {Asked} asked @returns {Promise<Block[]>} */
async function blocksOf(names, { endpoint, signal }) {
  const calls = names.map((name) => ({ method: 'eth_getBlockByNumber', params: [name, false] }));
  const answers = await callAll(endpoint, calls, { signal });
  return answers.map((answer) => {
    const { number, timestamp } = /** @type {any} */ (resultOf(answer)) ?? {};
    const block = { number: Number(number), time: Number(timestamp) };
    if (!Number.isSafeInteger(block.number) || !Number.isSafeInteger(block.time)) throw new Unanswered('it has no time for a block');
    return block;
  });
}
