import type { Hash } from 'viem';
import type { ClaimedPayer } from '../../../chain/stablecoin/claimed-payer.ts';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';

/** A sent transaction, whose status only the chain decides, or a rejection before anything was sent. */
export type FacilitatorSettlement = { txHash: Hash } | { refused: string };

export interface PayingClient {
  payer: Promise<ClaimedPayer>;
  /** As the rate limits key it. */
  address: string;
}

export interface Facilitator {
  readonly simulatesSettlement: boolean;
  /** Reason of a rejection; null for a valid payment. @throws OracleError CHAIN_UNREACHABLE when the validity is unknown */
  verify(payment: ParsedPayment, requirements: PaymentRequirements, client: PayingClient): Promise<string | null>;
  /** Idempotent. @throws OracleError, retryable, when the payment may have been sent now or before */
  settle(payment: ParsedPayment, requirements: PaymentRequirements, client: Pick<PayingClient, 'address'>): Promise<FacilitatorSettlement>;
}
