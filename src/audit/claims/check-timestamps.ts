import { type Day, formatDay } from '../../forecast/day.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { CheckedRow } from '../../verify/checks/forecast.ts';
import { checkIndependentTime, listStampedBlocks } from '../../verify/checks/independent-time.ts';
import type { ServedTimestamp, Unread } from '../../verify/evidence.ts';
import type { Findings } from '../../verify/findings.ts';
import type { BitcoinBlock } from '../../verify/timestamps/bitcoin-block.ts';
import { parseOtsFile } from '../../verify/timestamps/ots-file.ts';
import { readTimestamps } from './read-timestamps.ts';
import { MAX_TIMESTAMPS_PER_PAGE, type TimestampClaims } from './timestamp-claims.ts';

/** Reads a Bitcoin block from a source that the verifier has named. */
export type ReadBlock = (height: number) => Promise<BitcoinBlock | Unread>;

/** Blocks that are read for one proof: each calendar names one. */
const MAX_BLOCKS = 8;

/** The timestamp of a forecast's day; undefined: the service serves none. */
export async function readServedTimestamp(claims: TimestampClaims, day: Day, readBlock: ReadBlock | null) {
  try {
    const served = (await readTimestamps(claims, [formatDay(day)])).get(formatDay(day));
    if (served !== undefined) return await addBlocks(served, readBlock);
    return readBlock === null ? undefined : { problem: 'the service serves no timestamp of its day' };
  } catch (error) {
    return { problem: getErrorMessage(error) };
  }
}

interface TimestampAudit {
  /** Null: none are compared. */
  timestamps: TimestampClaims | null;
  readBlock: ReadBlock | null;
  findings: Findings;
  signal?: AbortSignal | undefined;
}

/** Checks the timestamps of a record, which no verdict needs: a service that does not serve them changes nothing. @throws the reason of `signal` */
export async function checkServedTimestamps(rows: readonly CheckedRow[], audit: TimestampAudit): Promise<void> {
  const { timestamps, readBlock, findings, signal } = audit;
  if (timestamps === null || rows.length === 0) return;
  const byDate = Map.groupBy(rows, ({ prediction }) => formatDay(prediction.data.day));
  try {
    let before: string | null = null;
    do {
      const page = await timestamps.readPage({ limit: MAX_TIMESTAMPS_PER_PAGE, before });
      for (const [date, served] of page.data) {
        signal?.throwIfAborted();
        const rowsOfDay = byDate.get(date) ?? [];
        const known = rowsOfDay.length === 0 ? served : await addBlocks(served, readBlock);
        for (const { prediction } of rowsOfDay) checkIndependentTime(prediction, known, findings);
      }
      if (page.nextCursor !== null && before !== null && page.nextCursor >= before) throw new Error('the list does not end');
      before = page.nextCursor;
    } while (before !== null);
  } catch (error) {
    signal?.throwIfAborted();
    findings.note(`independent timestamps were not checked: ${getErrorMessage(error)}`);
  }
}

async function addBlocks(served: ServedTimestamp, readBlock: ReadBlock | null): Promise<ServedTimestamp> {
  if (readBlock === null || served.proof === null) return served;
  const heights = [...new Set(listHeights(served.proof))].slice(0, MAX_BLOCKS);
  const read = heights.map(async (height) => [height, await readBlock(height)] as const);
  return { ...served, blocks: new Map(await Promise.all(read)) };
}

/** None of a proof that cannot be read: its check says so. */
function listHeights(proof: Uint8Array): number[] {
  try {
    return listStampedBlocks(parseOtsFile(proof)).map(({ height }) => height);
  } catch {
    return [];
  }
}
