/** How a run ends. */
export const EXIT = {
  ok: 0,
  /** It failed, or what was checked does not hold. */
  failed: 1,
  /** It was not called as it should be. */
  misused: 2,
  /** Nothing is wrong, and something could not be checked. */
  incomplete: 3,
} as const;
