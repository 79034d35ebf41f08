import { createTimestampClaims, MAX_TIMESTAMPS_PER_PAGE } from '../../audit/claims/timestamp-claims.ts';
import { formatDay, parseDay } from '../../forecast/day.ts';
import { isUnread, type ServedTimestamp, type Unread } from '../../verify/evidence.ts';
import { orProblem } from '../chain/record-chain.ts';
import { requestApi } from '../state/api.ts';
import type { ScorecardRow } from '../state/responses.ts';

/** By date. */
export type ServedTimestamps = ReadonlyMap<string, ServedTimestamp> | Unread;

/** The timestamps of the days of some rows, in as few requests as their dates allow. */
export async function readTimestamps(rows: readonly ScorecardRow[], signal: AbortSignal): Promise<ServedTimestamps> {
  const found = await orProblem(readDown(rows.map(({ date }) => date).sort(), signal));
  signal.throwIfAborted();
  return found;
}

async function readDown(dates: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, ServedTimestamp>> {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const claims = createTimestampClaims(document.baseURI.replace(/\/+$/, ''), requestApi);
  const found = new Map<string, ServedTimestamp>();
  const days = parseDay(last) - parseDay(first) + 1;
  let before: string | null = formatDay(parseDay(last) + 1);
  for (let left = days; left > 0 && before !== null && before > first; left -= MAX_TIMESTAMPS_PER_PAGE) {
    signal.throwIfAborted();
    const page: Awaited<ReturnType<typeof claims.readPage>> = await claims.readPage({
      limit: Math.min(MAX_TIMESTAMPS_PER_PAGE, left),
      before,
    });
    for (const [date, served] of page.data) found.set(date, served);
    before = page.nextCursor;
  }
  return found;
}

/** What the service serves for a row; undefined: its day is not stamped. */
export function findTimestamp(timestamps: ServedTimestamps, { date }: ScorecardRow): ServedTimestamp | Unread | undefined {
  return isUnread(timestamps) ? timestamps : timestamps.get(date);
}
