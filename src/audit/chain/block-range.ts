/** How many blocks an endpoint is asked for at once. */
export interface BlockRange {
  /** Blocks to ask for next. */
  readonly size: number;
  /** A range of `size` was answered: the next may be longer. */
  onAnswered(): void;
  /** A range was refused: the next is shorter. @returns false when it cannot be any shorter */
  onRejected(): boolean;
}

const SHRINK_FACTOR = 10;
const GROWTH_FACTOR = 2;
/** Answers in a row, at the most, before a longer range is tried again. */
const MAX_PATIENCE = 64;

/**
 * Fits the range to what an endpoint takes, be it ten blocks or ten thousand. It grows again after a refusal, which may have been a
 * moment's overload; each time that growing is refused, it waits for twice as many answers before it tries again.
 */
export function createBlockRange(max: number): BlockRange {
  let size = max;
  let patience = 1;
  let answers = 0;
  let hasGrown = false;
  return {
    get size() {
      return size;
    },
    onAnswered() {
      if (hasGrown) patience = 1;
      hasGrown = false;
      answers += 1;
      if (answers < patience || size === max) return;
      size = Math.min(max, size * GROWTH_FACTOR);
      answers = 0;
      hasGrown = true;
    },
    onRejected() {
      if (size === 1) return false;
      size = hasGrown ? Math.floor(size / GROWTH_FACTOR) : Math.max(1, Math.floor(size / SHRINK_FACTOR));
      if (hasGrown) patience = Math.min(MAX_PATIENCE, patience * 2);
      hasGrown = false;
      answers = 0;
      return true;
    },
  };
}
