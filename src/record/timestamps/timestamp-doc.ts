import type { Binary } from 'mongodb';
import type { Hex } from 'viem';
import type { Day } from '../../forecast/day.ts';
import type { StampedBlock } from '../../verify/checks/independent-time.ts';

/** `submitted`: its proof promises a Bitcoin block; `confirmed`: it names one; `abandoned`: it is not asked any more. */
export type CalendarStatus = 'waiting' | 'submitted' | 'confirmed' | 'abandoned';

/** What is known of a day from one calendar. */
export interface CalendarState {
  url: string;
  status: CalendarStatus;
  /** Proof of the digest in the binary format of calendars; null while `waiting`. */
  proof: Binary | null;
  /** Since the status changed. */
  attempts: number;
  /** When it is asked again; null: never. */
  nextAt: Date | null;
}

/** The timestamp of a day's commitments. */
export interface TimestampDoc {
  /** `YYYY-MM-DD`. */
  _id: string;
  day: Day;
  /** Exact text whose SHA-256 is stamped. */
  document: string;
  digest: Hex;
  createdAt: Date;
  calendars: CalendarState[];
  /** The `.ots` file of the document, with the proofs of all calendars; null before the first. */
  proof: Binary | null;
  /** What it names. */
  blocks: StampedBlock[];
  /** Earliest of the calendars; null once none is asked any more. */
  nextAt: Date | null;
  /** Advances with each write. */
  revision: number;
}

/** When the next calendar is asked; null: none is. */
export function getNextAt(calendars: readonly CalendarState[]): Date | null {
  const times = calendars.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt.getTime()]));
  return times.length === 0 ? null : new Date(Math.min(...times));
}
