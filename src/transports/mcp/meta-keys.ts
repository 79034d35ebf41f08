/** Where members of ours stand in `_meta`. */
export const META_KEYS = {
  /** Of a tool: tier, price and freshness. */
  terms: 'bitcoin-signal-oracle/terms',
  /** Of a result with `isError`: the error as every door tells it. */
  error: 'bitcoin-signal-oracle/error',
  /** Of a call that is paid for: the code of the partner who sent the payer. */
  ref: 'bitcoin-signal-oracle/ref',
  /** Of an answer that was paid for: how, and the signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  /** Of a call, by the x402 transport for MCP: the payment. */
  payment: 'x402/payment',
  /** Of an answer, by the same: what became of the payment. */
  paymentResponse: 'x402/payment-response',
} as const;
