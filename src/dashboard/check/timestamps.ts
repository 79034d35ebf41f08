import { readTimestamps } from '../../audit/claims/read-timestamps.ts';
import { createTimestampClaims } from '../../audit/claims/timestamp-claims.ts';
import { isUnread, type ServedTimestamp, type Unread } from '../../verify/evidence.ts';
import { orProblem } from '../chain/record-chain.ts';
import { requestApi } from '../state/api.ts';
import type { ScorecardRow } from '../state/responses.ts';

/** By date. */
type ServedTimestamps = ReadonlyMap<string, ServedTimestamp> | Unread;

/** The timestamps of the days of some rows. */
export async function readRowTimestamps(rows: readonly ScorecardRow[], signal: AbortSignal): Promise<ServedTimestamps> {
  const claims = createTimestampClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
  const dates = rows.map(({ date }) => date);
  const found = await orProblem(readTimestamps(claims, dates, signal));
  signal.throwIfAborted();
  return found;
}

/** What the service serves for a row; undefined: its day is not stamped. */
export function findTimestamp(timestamps: ServedTimestamps, { date }: ScorecardRow): ServedTimestamp | Unread | undefined {
  return isUnread(timestamps) ? timestamps : timestamps.get(date);
}
