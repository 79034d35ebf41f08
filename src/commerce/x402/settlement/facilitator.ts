import type { Hash } from 'viem';
import type { ClaimedPayer } from '../../../chain/stablecoin/claimed-payer.ts';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';

/** What became of a settlement: on its way or on chain, or refused before anything was sent. Whether it landed, the chain has to say. */
export type FacilitatorSettlement = { txHash: Hash } | { refused: string };

/** Verifies payments and sends them to the chain. */
export interface Facilitator {
  /** Whether a payment that it verifies was simulated as it will be settled. */
  readonly simulatesSettlement: boolean;
  /** Null for a good payment; otherwise why it is none. @throws OracleError CHAIN_UNREACHABLE, which says nothing about the payment */
  verify(payment: ParsedPayment, requirements: PaymentRequirements, payer: ClaimedPayer): Promise<string | null>;
  /** The same payment again has no second effect. @throws OracleError, retryable, when it may have been sent: now, or before */
  settle(payment: ParsedPayment, requirements: PaymentRequirements): Promise<FacilitatorSettlement>;
}
