import type { Hash } from 'viem';
import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { Offering } from '../price-list.ts';
import type { X402Receipt } from '../receipts/offer-receipt.ts';
import type { ReceivedPayment } from '../receipts/payment-response.ts';
import type { SignedReceipt } from '../receipts/receipt.ts';
import type { QuotedExtensions } from './protocol/payment-extensions.ts';
import type { ParsedPayment } from './protocol/payment-payload.ts';
import type { PaymentQuote, ResourceInfo } from './protocol/payment-quote.ts';

export interface PreparedAnswer {
  body: Record<string, unknown>;
  forecastId: string | null;
  attestationUid: Hash | null;
  /** Body that is delivered free of charge instead; unset when every payer is charged. */
  freeBody?: Record<string, unknown>;
}

export interface PaidCall extends Pick<QuotedExtensions, 'bazaar'> {
  offering: Offering;
  resource: ResourceInfo;
  /** Input: the same payment with another input is rejected. */
  input: Record<string, unknown>;
  /** Decoded payment of the client, not validated; null without one. */
  payment: unknown;
  ref: string | null;
  address: string;
  /** Called before a payment is verified on chain. @throws OracleError RATE_LIMITED after too many rejected payments of payer or address */
  requireRejectionAllowance(payer: ClaimedPayer): void;
  /** Whether `requireRejectionAllowance` passes. */
  hasRejectionAllowance(payer: ClaimedPayer): boolean;
  /** Counts a payment that was rejected after a chain read. @throws OracleError RATE_LIMITED */
  countRejection(payer: ClaimedPayer): Promise<void>;
  /** Composes the answer. The client is not charged when it throws. */
  answer(): Promise<PreparedAnswer>;
}

export interface IncomingPayment {
  call: PaidCall;
  payment: ParsedPayment;
  quote: PaymentQuote;
}

export type X402Payment = ReceivedPayment & { channel: 'x402' };

export interface SaleResult {
  body: Record<string, unknown>;
  /** Null for a free answer. */
  payment: X402Payment | null;
  receipt: SignedReceipt | null;
  /** Receipt of the extension `offer-receipt`; null for a free answer, or when it could not be signed. */
  x402Receipt: X402Receipt | null;
  /** True for a repeated delivery. */
  isAgain: boolean;
}
