import { getErrorMessage, isOracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { PollStore } from '../store/poll-store.ts';

export interface Poll {
  id: string;
  everyMs: number;
  /** First delay after a failure; doubles with each consecutive failure up to `everyMs`. */
  retryMs: number;
  /** Another worker may claim the poll after this time; default 5 minutes. */
  leaseMs?: number;
  /** Fetches and stores. @returns the latest time (ms) of the next run, if earlier than `everyMs`. @throws OracleError FEED_UNAVAILABLE */
  run(nowMs: number): Promise<number | undefined>;
}

interface PollOptions {
  polls: PollStore;
  log: Log;
  now(): number;
}

const LEASE_MS = 5 * 60_000;

/** Runs the due polls that no other worker holds. A feed failure is recorded and logged once, not thrown. */
export async function runDuePolls(polls: readonly Poll[], options: PollOptions): Promise<void> {
  await Promise.all(polls.map((poll) => runIfDue(poll, options)));
}

async function runIfDue(poll: Poll, { polls, log, now }: PollOptions): Promise<void> {
  const startedAtMs = now();
  if (!(await polls.claim(poll.id, startedAtMs, poll.leaseMs ?? LEASE_MS))) return;
  try {
    const before = await polls.find(poll.id);
    const wanted = await poll.run(startedAtMs);
    await polls.succeeded(poll.id, now(), Math.min(startedAtMs + poll.everyMs, wanted ?? Number.POSITIVE_INFINITY));
    if (before?.error) log.info({ feed: poll.id, attempts: before.failures + 1 }, 'feed is back');
  } catch (error) {
    if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) {
      // For example at shutdown: the next process does not wait for the lease to expire.
      await polls.release(poll.id, startedAtMs);
      throw error;
    }
    const wait = (failures: number) => Math.min(poll.everyMs, poll.retryMs * 2 ** Math.min(failures - 1, 20));
    const failures = await polls.failed(poll.id, getErrorMessage(error), (count) => startedAtMs + wait(count));
    if (failures === 1) log.warn({ feed: poll.id, reason: getErrorMessage(error) }, 'feed failed: what is known of it stays');
  }
}
