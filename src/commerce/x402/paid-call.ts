import type { Hash } from 'viem';
import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { Offering } from '../offerings.ts';
import type { ReceivedPayment } from '../receipts/payment-response.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { ResourceInfo } from './protocol/payment-quote.ts';

/** What is sold: a JSON document, and the forecast that is in it. */
export interface PreparedAnswer {
  body: Record<string, unknown>;
  forecastId: string | null;
  attestationUid: Hash | null;
  /** What is given away in its place; unset for one that is charged to every payer. */
  freeBody?: Record<string, unknown>;
}

/** A request for something that is paid for with it, whichever door it comes through. */
export interface PaidCall {
  offering: Offering;
  resource: ResourceInfo;
  /** What it asks: the same payment for another input is refused. */
  input: Record<string, unknown>;
  /** As the client sent it, decoded; null where it sent none. */
  payment: unknown;
  /** Code of the partner who sent the payer. */
  ref: string | null;
  /** Where the request comes from, as the limits count it. */
  address: string;
  /** Before the chain is asked about a payment. @throws OracleError RATE_LIMITED where the payer, or the address, sent too many bad ones */
  requireRejectionAllowance(payer: ClaimedPayer): void;
  /** Counts a payment that was rejected after the chain was asked about it. @throws OracleError RATE_LIMITED */
  countRejection(payer: ClaimedPayer): Promise<void>;
  /** Makes the answer. What it throws costs the client nothing. */
  answer(): Promise<PreparedAnswer>;
}

/** How an answer was paid for: by an authorization that came with the request. */
export type X402Payment = ReceivedPayment & { channel: 'x402' };

export interface SaleResult {
  body: Record<string, unknown>;
  /** Null for an answer that was given away. */
  payment: X402Payment | null;
  receipt: SignedReceipt | null;
  /** True where this answer was paid for and given before. */
  isAgain: boolean;
}
