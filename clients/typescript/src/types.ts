import type { SignedPayment } from '../../../src/commerce/payment-signer.ts';
import type { components, operations } from '../generated/openapi.ts';

type Schemas = components['schemas'];

/** Days from the opening of the outcome window to its end. */
export type Horizon = Schemas['Horizon'];
/** Width of a forecast among those of the last two years. */
export type MoveSize = NonNullable<Schemas['MoveSize']>;
/** Horizons of a signal. The record has 1-day forecasts besides. */
export type SignalHorizon = NonNullable<NonNullable<operations['getPublicSignal']['parameters']['query']>['horizon']>;

/** The public signal: `GATED`, with direction and confidence null, until its outcome is known. */
export type Signal = Schemas['PublicSignal'];
/** The newest forecast, as token holders receive it. The direction has no demonstrated skill: `skill.verdict` has the figures. */
export type OracleSignal = Schemas['OracleSignal'];
/** Central ranges of the price at the end of the horizon. They say nothing of the direction. */
export type ExpectedRange = Schemas['ExpectedRange'];
/** The record of a horizon with its error bars, and a page of forecasts. */
export type Scorecard = Schemas['Scorecard'];
/** A forecast of the record. */
export type Forecast = Scorecard['predictions'][number];
/** The record by filters, with statistics of exactly the filtered forecasts. */
export type TrackRecord = Schemas['RunGetTrackRecordResponse']['output'];
export type TrackRecordFilters = Schemas['RunGetTrackRecordRequest'];
/** An attestation, compared with the record by the service itself. */
export type Verification = Schemas['Verification'];
/** Tables of the resolved record, with licence, columns and digests. */
export type Dataset = Schemas['DatasetIndex'];
/** An error response, RFC 9457. */
export type Problem = Schemas['Problem'];
export type PaidSignal = Schemas['PaidSignal'];
export type PaidPremiumSignal = Schemas['PaidPremiumSignal'];
export type Info = Schemas['Info'];

export type { components, operations, paths } from '../generated/openapi.ts';

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
  usd: string;
  /** Of receipt and x402 receipt; all passed unless the answer came with a `ReceiptRejected`. */
  checks: { what: string; ok: boolean }[];
  /** `PAYMENT-RESPONSE` as received; undefined without one. */
  settlement: unknown;
}
