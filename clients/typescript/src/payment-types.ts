import type { SignedPayment } from '../../../src/payer/payment-signer.ts';
import type { PaidPremiumSignal, PaidSignal, SignalHorizon } from './types.ts';

export type Product = 'signal' | 'premium';
/** Body of the response by product. */
export type PaidAnswers = { signal: PaidSignal; premium: PaidPremiumSignal };

export interface PaymentOptions<What extends Product = 'signal'> {
  /** The most that this call may cost, in US dollars, such as `'0.002'`: money is no float. */
  maxUsd: string;
  /** Default: `signal`. */
  what?: What;
  /** Default: `7d`. */
  horizon?: SignalHorizon | undefined;
  /** The only coins that are paid in, whatever the service asks for; all with six decimals. Default: USDC on Base and Base Sepolia. */
  coins?: readonly { chainId: number; address: `0x${string}` }[];
  /** How often a payment is sent while its result is unknown; default 4. */
  attempts?: number | undefined;
  /** Wallet that must have signed the receipt. Default: as the service publishes it before the payment. */
  seller?: `0x${string}`;
}

/** A payment for one request, as JSON to store. Its `payment` can be spent with the payee alone, up to `expiresAt` (ISO 8601). */
export interface PreparedPayment<What extends Product = Product> {
  what: What;
  path: string;
  usd: string;
  seller: `0x${string}`;
  expiresAt: string;
  payment: SignedPayment;
}

export interface PaidAnswer<What extends Product = Product> {
  /** Its direction has no demonstrated skill: `skill.verdict` has the figures. */
  answer: PaidAnswers[What];
  /** False for a free HOLD, which leaves the authorization unused and has no receipt. */
  charged: boolean;
  usd: string;
  /** Of receipt and x402 receipt; all passed unless the answer came with a `ReceiptRejected`. */
  checks: { what: string; ok: boolean }[];
  /** `PAYMENT-RESPONSE` as received; undefined without one. */
  settlement: unknown;
}
