import type { Day } from '../../../forecast/day.ts';
import { getErrorMessage, isOracleError } from '../../../platform/errors.ts';
import { splitRange } from '../collect/day-ranges.ts';
import type { DayRange } from '../sources/source.ts';
import type { BackfillStore } from '../store/backfill-store.ts';

/** One part of the history, fetched page by page. */
export interface BackfillItem {
  id: string;
  from: Day;
  to: Day;
  pageDays: number;
  /** True when no forecast is possible without it. */
  required: boolean;
  /** Fetches and stores one page, idempotently. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  fetch(range: DayRange): Promise<void>;
}

export interface BackfillProgress {
  done: number;
  total: number;
  label: string;
}

export interface BackfillOptions {
  backfills: BackfillStore;
  onProgress(progress: BackfillProgress): void;
  signal: AbortSignal;
}

export type MissingHistory = Pick<BackfillItem, 'id' | 'required'> & { reason: string };

/**
 * Fetches the remaining pages of all items, items in parallel, pages oldest first. Each page is stored before the progress advances, so
 * that an interrupted run resumes.
 * @returns the items that are incomplete and need a retry
 */
export async function runBackfill(items: readonly BackfillItem[], options: BackfillOptions): Promise<MissingHistory[]> {
  const candidates = await Promise.all(items.map((item) => findPending(item, options.backfills)));
  const pending = candidates.filter((part) => part !== null);
  const total = pending.reduce((sum, { pages }) => sum + pages.length, 0);
  let done = 0;
  const tick = (label: string) => options.onProgress({ done: ++done, total, label });
  const missing = await Promise.all(pending.map((part) => runItem(part, options, tick)));
  return missing.filter((part) => part !== null);
}

async function findPending(item: BackfillItem, backfills: BackfillStore) {
  const { through, done } = await backfills.begin(item.id, item.from);
  return done ? null : { item, pages: splitRange({ from: through + 1, to: item.to }, item.pageDays) };
}

async function runItem(
  { item, pages }: { item: BackfillItem; pages: DayRange[] },
  { backfills, signal }: BackfillOptions,
  tick: (label: string) => void,
): Promise<MissingHistory | null> {
  try {
    for (const page of pages) {
      signal.throwIfAborted();
      await item.fetch(page);
      await backfills.advance(item.id, page.to);
      tick(item.id);
    }
    await backfills.finish(item.id);
    return null;
  } catch (error) {
    if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
    return { id: item.id, required: item.required, reason: getErrorMessage(error) };
  }
}
