import { Binary } from 'mongodb';
import { getErrorMessage } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { CalendarState } from '../../record/timestamps/timestamp-doc.ts';
import { InvalidTimestampError } from '../../verify/timestamps/ots-bytes.ts';
import {
  extendTimestamp,
  listAttestations,
  parseTimestamp,
  serializeTimestamp,
  type TimestampTree,
} from '../../verify/timestamps/ots-tree.ts';
import { type CalendarClient, mayFollow } from './calendar-client.ts';

export interface CalendarDeps {
  client: CalendarClient;
  log: Log;
}

export interface CalendarTask {
  digest: Uint8Array;
  /** Name of the day in the log. */
  date: string;
  /** When an unanswered calendar is not asked any more: all outcomes of the day are known. */
  outcomesAt: Date;
  now: Date;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** First and largest distance of attempts, which double. */
const SUBMIT_PAUSES = { firstMs: MINUTE_MS, maxMs: 60 * MINUTE_MS };
/** Calendars wait for several blocks, and for low fees. */
const UPGRADE_PAUSES = { firstMs: 30 * MINUTE_MS, maxMs: 6 * 60 * MINUTE_MS };
/** A promise that is not kept by then is given up; the pending proof stays in the file. */
const GIVE_UP_UPGRADE_MS = 14 * DAY_MS;
/** Of one calendar; the file of a day holds eight. A usual one has 2,000 bytes and a hundred steps. */
const MAX_PROOF = { bytes: 8_000, entries: 500 };
/** Pending attestations that are asked for in one go. */
const MAX_FOLLOWED = 4;

/** Asks a calendar that is due, once. What it does not answer, or answers wrongly, changes nothing but the time of the next attempt. */
export async function advanceCalendar(deps: CalendarDeps, state: CalendarState, task: CalendarTask): Promise<CalendarState> {
  const { now, digest, date } = task;
  if (state.nextAt === null || state.nextAt > now) return state;
  try {
    if (state.proof === null) {
      const nextAt = new Date(now.getTime() + UPGRADE_PAUSES.firstMs);
      return { ...state, status: 'submitted', proof: toProof(await submit(deps, state.url, digest)), attempts: 0, nextAt };
    }
    const confirmed = await upgrade(deps, state, digest);
    if (confirmed !== null) return { ...state, status: 'confirmed', proof: toProof(confirmed), attempts: 0, nextAt: null };
  } catch (error) {
    const reason = error instanceof InvalidTimestampError ? `refused its answer: ${error.message}` : getErrorMessage(error);
    deps.log.warn({ day: date, calendar: state.url, attempts: state.attempts + 1, reason }, 'a calendar gave no timestamp');
  }
  return postpone(deps, state, task);
}

async function submit({ client }: CalendarDeps, url: string, digest: Uint8Array): Promise<TimestampTree> {
  const tree = await client.submit(url, digest);
  if (listFollowed(tree, url).length === 0) throw new InvalidTimestampError('it names no calendar to ask for the Bitcoin block');
  return tree;
}

/** The proof with a Bitcoin block; null while there is none. */
async function upgrade({ client }: CalendarDeps, { url, proof }: CalendarState, digest: Uint8Array): Promise<TimestampTree | null> {
  const known = parseTimestamp(proof!.buffer, digest);
  for (const { message, uri } of listFollowed(known, url)) {
    const addition = await client.fetchAddition(uri, message);
    if (addition !== null && requireBlocks(addition)) return extendTimestamp(known, addition);
  }
  return null;
}

/** The pending attestations that may be followed. */
function listFollowed(tree: TimestampTree, url: string): { message: Uint8Array; uri: string }[] {
  const pending = listAttestations(tree).flatMap(({ message, attestation }) =>
    attestation.kind === 'pending' && mayFollow(attestation.uri, url) ? [{ message, uri: attestation.uri }] : [],
  );
  return pending.slice(0, MAX_FOLLOWED);
}

/** Whether an addition names a Bitcoin block. @throws InvalidTimestampError for one whose message is no Merkle root */
function requireBlocks(addition: TimestampTree): boolean {
  const blocks = listAttestations(addition).filter(({ attestation }) => attestation.kind === 'bitcoin');
  if (blocks.some(({ message }) => message.length !== 32))
    throw new InvalidTimestampError('it names a Bitcoin block without a Merkle root');
  return blocks.length > 0;
}

/** Read back: a proof that is stored can be read by everyone. @throws InvalidTimestampError */
function toProof(tree: TimestampTree): Binary {
  const bytes = serializeTimestamp(tree);
  if (bytes.length > MAX_PROOF.bytes) throw new InvalidTimestampError(`its proof has ${bytes.length} bytes`);
  parseTimestamp(bytes, tree.message, MAX_PROOF.entries);
  return new Binary(bytes);
}

function postpone({ log }: CalendarDeps, state: CalendarState, { now, outcomesAt, date }: CalendarTask): CalendarState {
  const isSubmitted = state.proof !== null;
  const { firstMs, maxMs } = isSubmitted ? UPGRADE_PAUSES : SUBMIT_PAUSES;
  const lastAt = isSubmitted ? outcomesAt.getTime() + GIVE_UP_UPGRADE_MS : outcomesAt.getTime();
  const nextAt = new Date(now.getTime() + Math.min(maxMs, firstMs * 2 ** Math.min(state.attempts, 10)));
  if (nextAt.getTime() <= lastAt) return { ...state, attempts: state.attempts + 1, nextAt };
  log.warn({ day: date, calendar: state.url, status: state.status }, 'a calendar is given up');
  return { ...state, status: 'abandoned', attempts: state.attempts + 1, nextAt: null };
}
