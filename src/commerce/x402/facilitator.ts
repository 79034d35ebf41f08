import type { Hash } from 'viem';
import type { ClaimedPayer } from '../../chain/claimed-payer.ts';
import type { Payment } from './payload.ts';
import type { Requirements } from './terms.ts';

/** What became of a settlement: on its way or on chain, or refused before anything was sent. Whether it landed, the chain has to say. */
export type Settlement = { txHash: Hash } | { refused: string };

/** Verifies payments and sends them to the chain. */
export interface Facilitator {
  /** Whether a payment that it verifies was simulated as it will be settled. */
  readonly simulatesSettlement: boolean;
  /** Null for a good payment; otherwise why it is none. @throws OracleError CHAIN_UNREACHABLE, which says nothing about the payment */
  verify(payment: Payment, requirements: Requirements, payer: ClaimedPayer): Promise<string | null>;
  /** The same payment again has no second effect. @throws OracleError, retryable, when it may have been sent: now, or before */
  settle(payment: Payment, requirements: Requirements): Promise<Settlement>;
}
