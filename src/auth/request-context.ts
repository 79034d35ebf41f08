import type { ClaimedPayer } from '../chain/stablecoin/claimed-payer.ts';
import type { Caller } from './caller.ts';

/**
 * How a unit of work is admitted: `work` waits for capacity and may be shed, a `page` of an answer that has begun waits only, a `payment`
 * is never kept waiting, and the `delivery` of what may be paid already needs no capacity.
 */
export type WorkKind = 'work' | 'page' | 'payment' | 'delivery';

export interface RequestContext {
  caller: Caller;
  requestId: string;
  address: string;
  origin?: string;
  /**
   * Runs a unit of work (the run of a skill, the reading of a page, a chain call) once this process has capacity for it, which it holds
   * until the work has ended. Inside another unit of the request it shares that capacity. @throws OracleError OVERLOADED, RATE_LIMITED
   */
  run<T>(work: () => Promise<T> | T, kind?: WorkKind): Promise<T>;
  /** Waits for the client, e.g. for the body of its request, without the capacity of the current unit. */
  suspend<T>(waiting: () => Promise<T>): Promise<T>;
  /** Ends the unit that the request began as: what follows, such as a stream, runs in units of its own. */
  detach(): void;
  /** Reserves memory for an answer until the client has read it. @throws OracleError OVERLOADED */
  reserveAnswer(bytes: number): Promise<void>;
  /** Counts another call of the same request. @param units of the rate limit, 1 by default; tenths @throws OracleError RATE_LIMITED */
  countCall(units?: number): Promise<void>;
  /** Counts a call that reads the chain, unless the request was already counted as one. @throws OracleError RATE_LIMITED */
  countChainCall(): Promise<void>;
  /** From here on the unit verifies and settles a payment, within the limits of such work. @throws OracleError RATE_LIMITED */
  beginPayment(): void;
  /** Counts a stored A2A message in units of storage, unless the caller is a token holder. @throws OracleError RATE_LIMITED */
  countTask(units: number): Promise<void>;
  /** Checks without counting. @throws OracleError RATE_LIMITED after too many rejected payments of this payer or address */
  requirePaymentRoom(payer: ClaimedPayer): void;
  /** Whether `requirePaymentRoom` passes. */
  hasPaymentRoom(payer: ClaimedPayer): boolean;
  /** Counts a rejected payment against its payer and address. @throws OracleError RATE_LIMITED */
  countRejectedPayment(payer: ClaimedPayer): Promise<void>;
}
