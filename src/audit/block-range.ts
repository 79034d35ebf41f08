/** How many blocks an endpoint is asked for at once. */
export interface BlockRange {
  /** Blocks to ask for next. */
  readonly size: number;
  /** A range of `size` was answered: the next may be longer. */
  answered(): void;
  /** A range was refused: the next is shorter. @returns false when it cannot be any shorter */
  refused(): boolean;
}

const SHRINKS_BY = 10;
const GROWS_BY = 2;
/** Answers in a row, at the most, before a longer range is tried again. */
const MOST_PATIENCE = 64;

/**
 * Fits the range to what an endpoint takes, be it ten blocks or ten thousand. It grows again after a refusal, which may have been a
 * moment's overload; each time that growing is refused, it waits for twice as many answers before it tries again.
 */
export function createBlockRange(most: number): BlockRange {
  let size = most;
  let patience = 1;
  let answers = 0;
  let grown = false;
  return {
    get size() {
      return size;
    },
    answered() {
      if (grown) patience = 1;
      grown = false;
      answers += 1;
      if (answers < patience || size === most) return;
      size = Math.min(most, size * GROWS_BY);
      answers = 0;
      grown = true;
    },
    refused() {
      if (size === 1) return false;
      size = grown ? Math.floor(size / GROWS_BY) : Math.max(1, Math.floor(size / SHRINKS_BY));
      if (grown) patience = Math.min(MOST_PATIENCE, patience * 2);
      grown = false;
      answers = 0;
      return true;
    },
  };
}
