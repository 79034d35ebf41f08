/** Where members of ours stand in `_meta`. */
export const META = {
  /** Of a tool: tier, price and freshness. */
  terms: 'bitcoin-signal-oracle/terms',
  /** Of a result with `isError`: the error as every door tells it. */
  error: 'bitcoin-signal-oracle/error',
} as const;
