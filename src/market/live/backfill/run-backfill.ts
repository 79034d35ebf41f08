import type { Day } from '../../../forecast/day.ts';
import { getErrorMessage, isOracleError } from '../../../platform/errors.ts';
import { splitRange } from '../collect/day-ranges.ts';
import type { BackfillStore } from '../store/backfill-store.ts';
import type { BackfillItem } from './backfill-item.ts';

export interface BackfillProgress {
  /** Pieces fetched, of all. */
  done: number;
  total: number;
  /** What was fetched last. */
  label: string;
}

export interface BackfillOptions {
  backfills: BackfillStore;
  onProgress(progress: BackfillProgress): void;
  signal: AbortSignal;
}

/** What could not be fetched, and why. */
export interface MissingHistory {
  id: string;
  required: boolean;
  reason: string;
}

interface PendingItem {
  item: BackfillItem;
  pages: { from: Day; to: Day }[];
}

/**
 * Fetches what is left of each part of the history, parts side by side, the pieces of a part oldest first. Each piece is stored before
 * it is ticked off, so that an interrupted run goes on where it stopped.
 * @returns the parts that could not be completed; to be tried again later
 */
export async function runBackfill(items: readonly BackfillItem[], options: BackfillOptions): Promise<MissingHistory[]> {
  const pending = await findPending(items, options.backfills);
  const total = pending.reduce((sum, { pages }) => sum + pages.length, 0);
  let done = 0;
  const tick = (label: string) => options.onProgress({ done: ++done, total, label });
  const missing = await Promise.all(pending.map((part) => runItem(part, options, tick)));
  return missing.filter((part) => part !== null);
}

async function findPending(items: readonly BackfillItem[], backfills: BackfillStore): Promise<PendingItem[]> {
  const candidates = await Promise.all(
    items.map(async (item) => {
      const { through, done } = await backfills.begin(item.id, item.from);
      return done ? null : { item, pages: splitRange({ from: through + 1, to: item.to }, item.pageDays) };
    }),
  );
  return candidates.filter((part) => part !== null);
}

async function runItem(
  { item, pages }: PendingItem,
  options: BackfillOptions,
  tick: (label: string) => void,
): Promise<MissingHistory | null> {
  const { backfills, signal } = options;
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
