import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type Address, getAddress, type Hex } from 'viem';
import { z } from 'zod';
import { PAYMENT_ID_PATTERN, PAYMENT_IDENTIFIER } from './payment-extensions.ts';
import { type PaymentQuote, PaymentRequiredError, type PaymentRequiredOptions, type PaymentRequirements } from './payment-quote.ts';
import { getRejectionAdvice } from './rejection-advice.ts';

/** A signed EIP-3009 authorization. Addresses in lower case. */
export interface Authorization {
  from: Address;
  to: Address;
  /** Smallest units of the asset. */
  value: bigint;
  /** Unix seconds. */
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

export interface ParsedPayment {
  authorization: Authorization;
  signature: Hex;
  /** `payment-identifier` of the client, or null. */
  paymentId: string | null;
  /** SHA-256 of authorization and signature. */
  digest: string;
  payload: PaymentPayload;
}

/** Forwarded part of `PaymentPayload` of version 2. */
export interface PaymentPayload {
  x402Version: 2;
  accepted: PaymentRequirements;
  payload: { signature: Hex; authorization: Record<keyof Authorization, string> };
}

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const seconds = z.union([z.string().regex(/^\d{1,20}$/), z.int().min(0).transform(String)]);
/** 65 bytes for an EOA; a contract wallet's signature may be longer. */
const signature = z.string().regex(/^0x([0-9a-fA-F]{2}){1,8192}$/);

const EXACT = z.object({
  signature,
  authorization: z.object({
    from: address,
    to: address,
    value: z.string().regex(/^\d{1,40}$/),
    validAfter: seconds,
    validBefore: seconds,
    nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
  }),
});

const IDENTIFIER = z.object({ info: z.object({ id: z.string().regex(PAYMENT_ID_PATTERN).optional() }) });
const V1 = z.object({ x402Version: z.literal(1), scheme: z.string(), network: z.string(), payload: EXACT });
const V2 = z.object({
  x402Version: z.literal(2),
  accepted: z.object({ scheme: z.string(), network: z.string(), amount: z.string(), asset: address, payTo: address }),
  payload: EXACT,
  extensions: z.looseObject({ [PAYMENT_IDENTIFIER]: IDENTIFIER.optional() }).nullish(),
});
const PAYMENT = z.discriminatedUnion('x402Version', [V1, V2]);
/** Minimum remaining validity: prevents an expiry between answer and settlement. */
const MIN_REMAINING_SECONDS = 60;
/** Maximum remaining validity: an unsettled payment is tracked until it expires. */
const MAX_REMAINING_SECONDS = 24 * 3_600;

const KNOWN_NETWORK = /^(eip155:\d{1,10}|base|base-sepolia)$/;

/** Whether a value has the form of a payment of the `exact` scheme on an EVM network; nothing of it is verified. */
export function isPaymentPayload(sent: unknown): boolean {
  const { success, data } = PAYMENT.safeParse(sent);
  if (!success) return false;
  const { scheme, network } = data.x402Version === 2 ? data.accepted : data;
  return scheme === 'exact' && KNOWN_NETWORK.test(network);
}

/** Parses a payment of either protocol version and matches it with the quote. @throws PaymentRequiredError with the mismatch */
export function parsePaymentPayload(sent: unknown, quote: PaymentQuote): ParsedPayment {
  const parsed = PAYMENT.safeParse(sent);
  if (!parsed.success) {
    requireKnownVersion(sent, quote);
    const [{ path, message }] = parsed.error.issues;
    throw createPaymentRejection(quote, 'invalid_payload', {
      message: `The payment cannot be read: ${path.map(String).join('.') || 'payment'}: ${message}`,
    });
  }
  const payment = parsed.data;
  requireMatchingQuote(payment, quote);
  const { authorization, signature } = payment.payload;
  const id = payment.x402Version === 2 ? payment.extensions?.[PAYMENT_IDENTIFIER]?.info.id : undefined;
  return {
    authorization: toAuthorization(authorization),
    signature: signature as Hex,
    paymentId: id ?? null,
    digest: digestPayload({ authorization, signature }),
    payload: { x402Version: 2, accepted: quote.requirements, payload: { signature: signature as Hex, authorization } },
  };
}

export function toAuthorization({ from, to, value, validAfter, validBefore, nonce }: Record<keyof Authorization, string>): Authorization {
  return {
    from: from.toLowerCase() as Address,
    to: to.toLowerCase() as Address,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce.toLowerCase() as Hex,
  };
}

function requireKnownVersion(sent: unknown, quote: PaymentQuote): void {
  const { x402Version = 2 } = (sent ?? {}) as { x402Version?: unknown };
  if (x402Version === 1 || x402Version === 2) return;
  throw createPaymentRejection(quote, 'invalid_x402_version', { message: 'Unsupported x402 version: send version 1 or 2' });
}

type PaymentInput = z.output<typeof PAYMENT>;

function requireMatchingQuote(payment: PaymentInput, quote: PaymentQuote): void {
  const { requirements, requirementsV1 } = quote;
  const { authorization } = payment.payload;
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const { scheme, network } = payment.x402Version === 2 ? payment.accepted : payment;
  const expected = payment.x402Version === 2 ? requirements.network : requirementsV1?.network;
  if (scheme !== requirements.scheme) throw createPaymentRejection(quote, 'unsupported_scheme');
  if (network !== expected) throw createPaymentRejection(quote, 'invalid_network');
  if (payment.x402Version === 2) {
    const { asset, payTo, amount } = payment.accepted;
    if (!same(asset, requirements.asset)) throw createPaymentRejection(quote, 'invalid_asset');
    if (!same(payTo, requirements.payTo)) throw createPaymentRejection(quote, 'recipient_mismatch');
    if (amount !== requirements.amount) throw createPaymentRejection(quote, 'amount_mismatch');
  }
  if (!same(authorization.to, requirements.payTo)) throw createPaymentRejection(quote, 'recipient_mismatch');
  if (BigInt(authorization.value) !== BigInt(requirements.amount)) throw createPaymentRejection(quote, 'amount_mismatch');
}

/** @throws PaymentRequiredError outside the validity period */
export function requireValidNow({ authorization: { validAfter, validBefore } }: ParsedPayment, quote: PaymentQuote, now: Date): void {
  const seconds = BigInt(Math.floor(now.getTime() / 1_000));
  if (validAfter > seconds) throw createPaymentRejection(quote, 'not_yet_valid');
  if (validBefore <= seconds) throw createPaymentRejection(quote, 'expired');
  const rejectWith = (reason: string, message: string) => createPaymentRejection(quote, reason, { message });
  if (validBefore < seconds + BigInt(MIN_REMAINING_SECONDS))
    throw rejectWith('expires_too_soon', `authorization.validBefore must be at least ${MIN_REMAINING_SECONDS} s ahead`);
  if (validBefore > seconds + BigInt(MAX_REMAINING_SECONDS))
    throw rejectWith('valid_too_long', `The authorization is valid for more than ${MAX_REMAINING_SECONDS / 3_600} hours`);
}

function digestPayload(payload: { authorization: z.output<typeof EXACT>['authorization']; signature: string }): string {
  const text = (canonicalize(payload) as string).toLowerCase();
  return createHash('sha256').update(text).digest('hex');
}

interface PaymentRejectionOptions extends Pick<PaymentRequiredOptions, 'unsettledOf'> {
  /** Default: by the reason. */
  message?: string;
  /** Unset when the payment could not be parsed. */
  payer?: Address;
}

/** Error for a rejected payment, with advice for the payer. @param reason machine-readable, verbatim when a facilitator's */
export function createPaymentRejection(
  quote: PaymentQuote,
  reason: string,
  { message, payer, unsettledOf }: PaymentRejectionOptions = {},
): PaymentRequiredError {
  const advice = getRejectionAdvice(reason, quote, payer === undefined ? null : getAddress(payer));
  const otherwise = unsettledOf === undefined ? 'The payment is invalid' : 'The payment could not be settled';
  const options = { field: 'payment', unsettledOf, ...(advice === null ? {} : { suggestedAction: advice.action }) };
  return new PaymentRequiredError(quote, reason, message ?? advice?.problem ?? otherwise, options);
}
