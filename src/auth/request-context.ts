import type { ClaimedPayer } from '../chain/stablecoin/claimed-payer.ts';
import type { Caller } from './caller.ts';

export interface RequestContext {
  caller: Caller;
  requestId: string;
  address: string;
  origin?: string;
  /** Counts another call of the same request. @throws OracleError RATE_LIMITED */
  countCall(): Promise<void>;
  /** Counts a call that reads the chain, unless the request was already counted as one. @throws OracleError RATE_LIMITED */
  countChainCall(): Promise<void>;
  /** Counts a stored A2A message in units of storage, unless the caller is a token holder. @throws OracleError RATE_LIMITED */
  countTask(units: number): Promise<void>;
  /** Counts an OAuth client that registers or whose document is fetched. @throws OracleError RATE_LIMITED */
  countClient(): Promise<void>;
  /** Checks without counting. @throws OracleError RATE_LIMITED after too many rejected payments of this payer or address */
  requirePaymentRoom(payer: ClaimedPayer): void;
  /** Whether `requirePaymentRoom` passes. */
  hasPaymentRoom(payer: ClaimedPayer): boolean;
  /** Counts a rejected payment against its payer and address. @throws OracleError RATE_LIMITED */
  countRejectedPayment(payer: ClaimedPayer): Promise<void>;
}
