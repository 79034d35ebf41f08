/** Members of `_meta` that this service reads and writes. */
export const META_KEYS = {
  /** In a tool: tier, price and freshness. */
  terms: 'bitcoin-signal-oracle/terms',
  /** In a result with `isError`: the client error, as in REST. */
  error: 'bitcoin-signal-oracle/error',
  ref: 'bitcoin-signal-oracle/ref',
  /** In a paid result: the settlement and the signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  /** In a call, by the x402 transport for MCP: the payment payload. */
  payment: 'x402/payment',
  /** In a result, by the same transport: the settlement response. */
  paymentResponse: 'x402/payment-response',
  /** In a request, by the protocol (2026-07-28): W3C Trace Context. */
  traceparent: 'traceparent',
} as const;
