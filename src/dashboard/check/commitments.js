import { readAttestations } from '../chain/attestations.js';
import { blocksBetween } from '../chain/blocks.js';
import { decodePrediction, schemaUid } from '../chain/eas.js';
import { attestedIn } from '../chain/logs.js';
import { Unanswered } from '../chain/rpc.js';
import { isoOf, secondsOf } from './check-list.js';

/** @import { Reading } from '../chain/attestations.js' */
/** @import { PredictionData } from '../chain/eas.js' */
/** @import { CheckList } from './check-list.js' */
/** @import { Task } from './check-rows.js' */

/** Whoever commits to both ways, and shows the one that came true, has forecast nothing: what else a wallet has committed for the same days. */

/** @typedef {{ uid: string, time: number, day: number, horizonDays: number }} Committed */

/**
 * All predictions of the wallet in blocks `from` to `to`, which are those since a time; or why they could not be read. Times in seconds
 * since 1970.
 * @typedef {{ from: number, to: number, since: number, newest: number, committed: readonly Committed[] } | { problem: string }} Commitments
 * `newest`: time of the newest block of the chain
 */

const HOUR = 3_600;
/** A chain with a block every two seconds makes 9,000 in the last five hours before a window opens: one question of most endpoints. */
const BEFORE_OPENING = 5 * HOUR;
const BEFORE_MAKING = HOUR;
const MOST_BLOCKS = 50_000;
const MOST_PREDICTIONS = 120;

/**
 * Looks through the blocks from shortly before the first of some rows was made to the opening of the last one's window.
 * @param {Task} task
 * @returns {Promise<Commitments>}
 */
export async function commitmentsAround(task) {
  try {
    return await readAround(task);
  } catch (error) {
    if (task.signal.aborted || !(error instanceof Unanswered)) throw error;
    return { problem: error.message };
  }
}

/** @param {Task} task @returns {Promise<Commitments>} */
async function readAround({ rows, info, endpoint, signal }) {
  const { eas } = info.contracts;
  const asked = { eas, endpoint, signal };
  const opens = rows.map(({ windowOpensAt }) => secondsOf(windowOpensAt)).filter(Number.isFinite);
  const made = rows.map(({ timestamp }) => secondsOf(timestamp)).filter(Number.isFinite);
  const since = Math.floor(Math.min(...opens.map((at) => at - BEFORE_OPENING), ...made.map((at) => at - BEFORE_MAKING)));
  if (opens.length === 0) throw new Unanswered('the service does not say when its window opens');
  const { from, to, newest } = await blocksBetween({ since, until: Math.max(...opens) }, asked);
  if (to - from >= MOST_BLOCKS) throw new Unanswered(`that takes ${to - from + 1} blocks of so many rows: check this one by itself`);
  const attester = info.chain.attester.toLowerCase();
  const schema = schemaUid('prediction');
  const uids = await attestedIn({ from, to, attester, schema, eas }, asked);
  if (uids.length > MOST_PREDICTIONS) throw new Unanswered(`there are ${uids.length} predictions of so many rows: check fewer of them`);
  const readings = await readAttestations(uids, asked);
  return { from, to, since, newest: newest.time, committed: readings.flatMap((reading) => committedIn(reading, { attester, schema })) };
}

/**
 * @param {Reading} reading
 * @param {{ attester: string, schema: string }} expected
 * @returns {Committed[]}
 */
function committedIn(reading, { attester, schema }) {
  if ('problem' in reading) throw new Unanswered(reading.problem);
  const { attestation } = reading;
  if (attestation === null || attestation.attester !== attester || attestation.schema !== schema) return [];
  try {
    const { day, horizonDays } = decodePrediction(attestation);
    return [{ uid: attestation.uid, time: attestation.time, day, horizonDays }];
  } catch {
    // What cannot be read commits to nothing.
    return [];
  }
}

const WHAT = 'whether the wallet committed to another call for this day';

/**
 * Compares a prediction with all others that came in time for the same day and horizon.
 * @param {CheckList} list
 * @param {Commitments} commitments
 * @param {{ uid: string, time: number, data: PredictionData }} own
 */
export function checkAlone(list, commitments, { uid, time, data: { day, horizonDays, windowOpensAt } }) {
  if ('problem' in commitments) return list.leave(WHAT, commitments.problem);
  const { from, to, since, newest, committed } = commitments;
  const inTime = committed.filter((one) => one.day === day && one.horizonDays === horizonDays && one.time < windowOpensAt);
  const others = inTime.filter((one) => one.uid !== uid);
  if (inTime.length === 0 && time >= since && time < windowOpensAt) {
    return list.leave(WHAT, 'the endpoint leaves out this one where it lists what the wallet has attested');
  }
  const range = `In blocks ${from} to ${to}, from ${isoOf(since)} on`;
  list.add('commitments', `${range}, the wallet made no other prediction for this day and horizon before its window opened.`, {
    expected: 'no other',
    actual: others.map((one) => one.uid).join(', ') || 'no other',
  });
  if (newest < windowOpensAt) list.postpone('another call before its window opens', `the newest block is of ${isoOf(newest)}`);
}
