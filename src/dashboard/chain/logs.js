import { keccak_256 } from '../vendor/sha3.js';
import { utf8ToBytes } from '../vendor/utils.js';
import { hexOf } from './abi.js';
import { hexNumber } from './blocks.js';
import { callAll, Overlong, resultOf, Unanswered } from './rpc.js';

/** @import { Asked } from './blocks.js' */
/** @import { Answer } from './rpc.js' */

/** What public endpoints read at once, and what less than is not tried. */
const MOST_BLOCKS = 10_000;
const FEW_BLOCKS = 500;
const MOST_QUESTIONS = 24;
const UID = /^0x[0-9a-f]{64}$/i;

/**
 * Uids of what a wallet has attested by a schema, by the events of the attestation contract in their order, until they are more than `most`.
 * @param {{ from: number, to: number, eas: string, attester: string, schema: string, most: number }} range numbers of the first and the last block
 * @param {Asked} asked
 * @returns {Promise<string[]>}
 * @throws {Unanswered}
 */
export async function attestedIn({ from, to, eas, attester, schema, most }, asked) {
  const event = hexOf(keccak_256(utf8ToBytes('Attested(address,address,bytes32,bytes32)')));
  const topics = [event, null, `0x${attester.slice(2).padStart(64, '0')}`, schema];
  const uids = [];
  let [blocks, questions] = [MOST_BLOCKS, 0];
  for (let at = from; at <= to && uids.length <= most; ) {
    if (++questions > MOST_QUESTIONS) throw new Unanswered(`it reads no more than ${blocks} blocks at once`);
    const end = Math.min(to, at + blocks - 1);
    const filter = { address: eas, topics, fromBlock: hexNumber(at), toBlock: hexNumber(end) };
    const answer = await logsOf(filter, asked);
    const half = Math.ceil((end - at + 1) / 2);
    // Too much to read at once is in few blocks, too, where a wallet attests without end.
    if (answer === null ? half < end - at + 1 : 'problem' in answer && half >= FEW_BLOCKS) {
      blocks = half;
    } else {
      uids.push(...uidsIn(resultOf(answer ?? { problem: 'it answers with too much' })));
      at = end + 1;
    }
  }
  return uids;
}

/**
 * @param {object} filter
 * @param {Asked} asked
 * @returns {Promise<Answer | null>} null where it is too long
 */
async function logsOf(filter, { endpoint, signal }) {
  try {
    return (await callAll(endpoint, [{ method: 'eth_getLogs', params: [filter] }], { signal }))[0];
  } catch (error) {
    if (error instanceof Overlong) return null;
    throw error;
  }
}

/** @param {unknown} logs @returns {string[]} */
function uidsIn(logs) {
  if (!Array.isArray(logs)) throw new Unanswered('its logs are no list');
  return logs.map((log) => {
    if (typeof log?.data !== 'string' || !UID.test(log.data)) throw new Unanswered('a log of it names no attestation');
    return log.data.toLowerCase();
  });
}
