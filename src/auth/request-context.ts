import type { ClaimedPayer } from '../chain/stablecoin/claimed-payer.ts';
import type { Caller } from './caller.ts';

/** One request at a door: who asks, and what it is counted against. */
export interface RequestContext {
  caller: Caller;
  /** What the log names the request by. */
  requestId: string;
  /** Where it comes from, as the limits count it. */
  address: string;
  /** The page that sent it, where a browser says so. */
  origin?: string;
  /** Counts a further call that came with the same request. @throws OracleError RATE_LIMITED */
  countCall(): Promise<void>;
  /** Counts a call that makes us ask the chain, unless the whole request was counted as one. @throws OracleError RATE_LIMITED */
  countChainCall(): Promise<void>;
  /** Counts an A2A message that is kept, in units of storage, unless the caller is a token holder. @throws OracleError RATE_LIMITED */
  countTask(units: number): Promise<void>;
  /** Without counting. @throws OracleError RATE_LIMITED where too many payments of this payer, or from this address, were rejected */
  requirePaymentRoom(payer: ClaimedPayer): void;
  /** Counts a rejected payment against its payer and the address. @throws OracleError RATE_LIMITED */
  countRejectedPayment(payer: ClaimedPayer): Promise<void>;
}
