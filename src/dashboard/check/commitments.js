import { readAttestations } from '../chain/attestations.js';
import { blocksBetween } from '../chain/blocks.js';
import { decodePrediction, schemaUid } from '../chain/eas.js';
import { attestedIn } from '../chain/logs.js';
import { Unanswered } from '../chain/rpc.js';
import { isoOf, secondsOf } from './check-list.js';

/** @import { Reading, Readings } from '../chain/attestations.js' */
/** @import { PredictionData } from '../chain/eas.js' */
/** @import { Answer } from '../chain/rpc.js' */
/** @import { ScorecardRow } from '../state/answers.ts' */
/** @import { CheckList } from './check-list.js' */
/** @import { Task } from './check-rows.js' */

/** Whoever commits to both ways, and shows the one that came true, has forecast nothing: what else a wallet has committed for the same days. */

/** @typedef {{ uid: string, time: number, day: number, horizonDays: number }} Committed */

/**
 * All predictions of the wallet in blocks `from` to `to`, which are those since a time; or why they could not be read. Times in seconds
 * since 1970.
 * @typedef {{ from: number, to: number, since: number, newest: number, committed: readonly Committed[], tooMany?: number }} Read
 * `newest`: time of the newest block of the chain; `tooMany`: there are more than so many, of which none was read
 * @typedef {Read | { problem: string }} Commitments
 */

const HOUR = 3_600;
/** A chain with a block every two seconds makes 9,000 in the last five hours before a window opens: one question of most endpoints. */
const BEFORE_OPENING = 5 * HOUR;
const BEFORE_MAKING = HOUR;
/** A call is made on its day, whatever a row says of that. */
const DAY = 24 * HOUR;
const MOST_BLOCKS = 50_000;
/** A wallet makes four a day, or as many for each day that it has missed. */
const MOST_PREDICTIONS = 1_000;
const MOST_A_ROW = 8;
const PATIENCE_MS = 30_000;

/**
 * When another prediction for some rows may have been made: a day, and of one row by itself less where that was made later by the chain.
 * @param {readonly ScorecardRow[]} rows
 * @param {Readings} readings
 */
export function timeAround(rows, readings) {
  const opens = rows.map(({ windowOpensAt }) => secondsOf(windowOpensAt)).filter(Number.isFinite);
  const until = Math.max(...opens);
  const reading = readings.get(String(rows[0]?.attestationUid));
  const made = (reading && 'attestation' in reading && reading.attestation?.time) || until;
  const ahead = rows.length > 1 ? DAY : Math.min(DAY, Math.max(BEFORE_OPENING, until - made + BEFORE_MAKING));
  return { since: Math.floor(Math.min(...opens) - ahead), until };
}

/**
 * Looks through the blocks around some rows, but not without end.
 * @param {Pick<Task, 'rows' | 'info' | 'endpoint' | 'signal'>} task
 * @param {{ readings?: Readings, told?: readonly Answer[], patienceMs?: number }} [options] `readings` is added to; `told`: answers to
 * what the search begins with
 * @returns {Promise<Commitments>}
 */
export async function commitmentsAround(task, { readings = new Map(), told, patienceMs = PATIENCE_MS } = {}) {
  const patience = AbortSignal.timeout(patienceMs);
  try {
    return await readAround({ ...task, signal: AbortSignal.any([task.signal, patience]) }, readings, told);
  } catch (error) {
    if (task.signal.aborted) throw error;
    if (patience.aborted) return { problem: `the endpoint has not told it within ${patienceMs / 1_000} s` };
    if (!(error instanceof Unanswered)) throw error;
    return { problem: error.message };
  }
}

/**
 * @param {Pick<Task, 'rows' | 'info' | 'endpoint' | 'signal'>} task
 * @param {Readings} readings
 * @param {readonly Answer[]} [told]
 * @returns {Promise<Commitments>}
 */
async function readAround({ rows, info, endpoint, signal }, readings, told) {
  const { eas } = info.contracts;
  const asked = { eas, endpoint, signal };
  const time = timeAround(rows, readings);
  if (!Number.isFinite(time.until)) throw new Unanswered('the service does not say when its window opens');
  const { from, to, newest } = await blocksBetween(time, asked, told);
  if (to - from >= MOST_BLOCKS) throw new Unanswered(`that takes ${to - from + 1} blocks of so many rows: check this one by itself`);
  const attester = info.chain.attester.toLowerCase();
  const schema = schemaUid('prediction');
  const most = Math.max(MOST_PREDICTIONS, MOST_A_ROW * rows.length);
  const uids = await attestedIn({ from, to, attester, schema, eas, most }, asked);
  const range = { from, to, since: time.since, newest: newest.time };
  if (uids.length > most) {
    // Nobody needs so many for one day, unless to hide one among them.
    if (rows.length === 1) return { ...range, committed: [], tooMany: most };
    throw new Unanswered(`there are more than ${most} predictions of so many rows: check this one by itself`);
  }
  await readAttestations(readings, uids, asked);
  return { ...range, committed: uids.flatMap((uid) => committedIn(readings.get(uid), { uid, attester, schema })) };
}

/**
 * @param {Reading | undefined} reading
 * @param {{ uid: string, attester: string, schema: string }} expected
 * @returns {Committed[]}
 */
function committedIn(reading, { uid, attester, schema }) {
  if (reading !== undefined && 'problem' in reading) throw new Unanswered(reading.problem);
  const attestation = reading?.attestation;
  if (attestation?.uid !== uid) throw new Unanswered('it lists an attestation, and answers without it');
  if (attestation.attester !== attester || attestation.schema !== schema) return [];
  try {
    const { day, horizonDays } = decodePrediction(attestation);
    return [{ uid, time: attestation.time, day, horizonDays }];
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
  const { from, to, since, newest, committed, tooMany } = commitments;
  const range = `In blocks ${from} to ${to}, from ${isoOf(since)} on`;
  if (tooMany !== undefined) {
    const what = `${range}, the wallet made so few predictions that each could be read.`;
    return void list.add('commitments', what, { expected: `at most ${tooMany}`, actual: `more than ${tooMany}` });
  }
  const inTime = committed.filter((one) => one.day === day && one.horizonDays === horizonDays && one.time < windowOpensAt);
  const others = inTime.filter((one) => one.uid !== uid);
  if (inTime.length === 0 && time >= since && time < windowOpensAt) {
    return list.leave(WHAT, 'the endpoint leaves out this one where it lists what the wallet has attested');
  }
  list.add('commitments', `${range}, the wallet made no other prediction for this day and horizon before its window opened.`, {
    expected: 'no other',
    actual: others.map((one) => one.uid).join(', ') || 'no other',
  });
  if (newest < windowOpensAt) list.postpone('another call before its window opens', `the newest block is of ${isoOf(newest)}`);
}
