import { formatDay, parseDay } from '../../forecast/day.ts';
import type { ServedTimestamp } from '../../verify/evidence.ts';
import { MAX_TIMESTAMPS_PER_PAGE, type TimestampClaims } from './timestamp-claims.ts';

/**
 * The timestamps of some days (`YYYY-MM-DD`), in as few requests as their dates allow; of some days between them, too.
 * @throws OracleError SERVICE_UNREACHABLE; the reason of `signal`
 */
export async function readTimestamps(
  claims: TimestampClaims,
  dates: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ServedTimestamp>> {
  const found = new Map<string, ServedTimestamp>();
  const [first, last] = [dates.toSorted()[0], dates.toSorted().at(-1)];
  if (first === undefined || last === undefined) return found;
  let before: string | null = formatDay(parseDay(last) + 1);
  for (let left = parseDay(last) - parseDay(first) + 1; left > 0 && before !== null && before > first; left -= MAX_TIMESTAMPS_PER_PAGE) {
    signal?.throwIfAborted();
    const page: Awaited<ReturnType<TimestampClaims['readPage']>> = await claims.readPage({
      limit: Math.min(MAX_TIMESTAMPS_PER_PAGE, left),
      before,
    });
    for (const [date, served] of page.data) found.set(date, served);
    before = page.nextCursor;
  }
  return found;
}
