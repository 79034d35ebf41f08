const SHRINK_FACTOR = 10;
const GROWTH_FACTOR = 2;
/** Maximum successes before a longer range is tried again. */
const MAX_PATIENCE = 64;

/**
 * Adapts the block range of log queries to the limit of an endpoint. The range grows again after a rejection, which may be a transient
 * overload; each rejected growth doubles the number of successes before the next one.
 */
export function createBlockRange(max: number) {
  let size = max;
  let patience = 1;
  let answers = 0;
  let hasGrown = false;
  return {
    /** Blocks of the next query. */
    get size() {
      return size;
    },
    onAnswered(): void {
      if (hasGrown) patience = 1;
      hasGrown = false;
      answers += 1;
      if (answers < patience || size === max) return;
      size = Math.min(max, size * GROWTH_FACTOR);
      answers = 0;
      hasGrown = true;
    },
    /** @returns false when the range cannot shrink further */
    onRejected(): boolean {
      if (size === 1) return false;
      size = hasGrown ? Math.floor(size / GROWTH_FACTOR) : Math.max(1, Math.floor(size / SHRINK_FACTOR));
      if (hasGrown) patience = Math.min(MAX_PATIENCE, patience * 2);
      hasGrown = false;
      answers = 0;
      return true;
    },
  };
}
