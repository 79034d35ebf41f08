import type { Address, Hex } from 'viem';
import type { OpenedSession } from '../../auth/auth.ts';
import type { PaymentQuote } from '../../commerce/x402/terms.ts';

/** Paths of the operations, with a local chain only. */
export const DEMO_PATHS = { login: '/api/demo/login', signature: '/api/demo/signature', payment: '/api/demo/payment' } as const;

/** Demo wallets that hold gate tokens for a tier. */
export const DEMO_TIER_ROLES = ['basic', 'premium'] as const;

type DemoTierRole = (typeof DEMO_TIER_ROLES)[number];

/** The buyer holds the stablecoin of the local chain, and no gate tokens. */
export const DEMO_ROLES = [...DEMO_TIER_ROLES, 'buyer'] as const;

export type DemoRole = (typeof DEMO_ROLES)[number];

/** `PaymentPayload` of x402 version 2 over an EIP-3009 authorization. */
export interface DemoPayment {
  x402Version: 2;
  resource: PaymentQuote['resource'];
  accepted: PaymentQuote['requirements'];
  payload: {
    signature: string;
    authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;
  };
  extensions: { 'payment-identifier': { info: { required: boolean; id: string } } };
}

/** The wallets of a local chain, which sign in this process: their keys are not part of it. */
export interface DemoWallets {
  addresses: Readonly<Record<DemoRole, Address>>;
  /** @throws OracleError as the login of any wallet */
  logIn(role: DemoTierRole): Promise<OpenedSession>;
  /** Signs a text that this service has composed for the wallet. @throws OracleError INPUT_INVALID for any other */
  sign(role: DemoTierRole, message: string): Promise<Hex>;
  /** Signs the authorization of the buyer for a quote of this service. @throws OracleError RATE_LIMITED beyond the budget */
  authorize(quote: PaymentQuote): Promise<DemoPayment>;
}
