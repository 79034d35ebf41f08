import { createHash } from 'node:crypto';
import { PaymentPayloadSchema } from '@x402/core/schemas';
import type { x402ResourceServer } from '@x402/core/server';
import type { PaymentPayload as X402PaymentPayload, PaymentRequirements as X402PaymentRequirements } from '@x402/core/types';
import canonicalize from 'canonicalize';
import { type Address, getAddress, type Hex } from 'viem';
import { z } from 'zod';
import { isPlainObject } from '../../platform/validation.ts';
import { formatMoney } from '../offerings.ts';
import { BAZAAR } from './bazaar.ts';
import {
  PAYMENT_ID_PATTERN,
  PAYMENT_IDENTIFIER,
  type PaymentQuote,
  PaymentRequiredError,
  type PaymentRequiredOptions,
  type PaymentRequirements,
  type ResourceInfo,
} from './terms.ts';

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

/** A `PaymentPayload` of the library, of version 2 whatever the client sent. */
export interface ParsedPayment extends PaymentPayload, Partial<PaymentListing> {
  authorization: Authorization;
  /** `payment-identifier` of the client, or null. */
  paymentId: string | null;
  /** SHA-256 of authorization and signature. */
  digest: string;
}

/** Further part of `PaymentPayload`, by which a remote facilitator lists the resource; from the quote, since clients can alter theirs. */
export interface PaymentListing {
  resource: ResourceInfo;
  extensions?: Record<string, unknown>;
}

/** Part of `PaymentPayload` of version 2 that settles the payment. */
export interface PaymentPayload {
  x402Version: 2;
  accepted: PaymentRequirements;
  payload: { signature: Hex; authorization: Record<keyof Authorization, string> };
}

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const seconds = z.union([z.string().regex(/^\d{1,20}$/), z.int().min(0).transform(String)]);
/** 65 bytes for an EOA; a contract wallet's signature may be longer. */
const signature = z.string().regex(/^0x([0-9a-fA-F]{2}){1,8192}$/);

/** What the schemas of the library leave open: the authorization of EIP-3009, and the extension of the service. */
const SIGNED = z.object({
  payload: z.object({
    signature,
    authorization: z.object({
      from: address,
      to: address,
      value: z.string().regex(/^\d{1,40}$/),
      validAfter: seconds,
      validBefore: seconds,
      nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
    }),
  }),
  extensions: z
    .looseObject({ [PAYMENT_IDENTIFIER]: z.object({ info: z.object({ id: z.string().regex(PAYMENT_ID_PATTERN).optional() }) }).optional() })
    .nullish(),
});
/** Minimum remaining validity: prevents an expiry between answer and settlement. */
const MIN_REMAINING_SECONDS = 60;
/** Maximum remaining validity: an unsettled payment is tracked until it expires. */
const MAX_REMAINING_SECONDS = 24 * 3_600;

const KNOWN_NETWORK = /^(eip155:\d{1,10}|base|base-sepolia)$/;

/** Whether a value has the form of a payment of the `exact` scheme on an EVM network; nothing of it is verified. */
export function isPaymentPayload(sent: unknown): boolean {
  const { payment, signed } = decodePayment(sent);
  if (payment === undefined || signed === undefined) return false;
  const { scheme, network } = payment.x402Version === 2 ? payment.accepted : payment;
  return scheme === 'exact' && KNOWN_NETWORK.test(network);
}

function decodePayment(sent: unknown) {
  const { data: payment, error } = PaymentPayloadSchema.safeParse(sent);
  const { data: signed, error: signedError } = SIGNED.safeParse(payment);
  const [issue] = (error ?? signedError)?.issues ?? [];
  return { payment, signed, issue };
}

/** Parses a payment of either protocol version and matches it with the quote. @throws PaymentRequiredError with the mismatch */
export function parsePaymentPayload(server: x402ResourceServer, sent: unknown, quote: PaymentQuote): ParsedPayment {
  const { payment, signed, issue } = decodePayment(sent);
  if (payment === undefined || signed === undefined) {
    if (holdsTransactionHash(sent)) throw createPaymentRejection(quote, 'proof_is_hash');
    const { x402Version = 2 } = (sent ?? {}) as { x402Version?: unknown };
    if (x402Version !== 1 && x402Version !== 2) {
      throw createPaymentRejection(quote, 'invalid_x402_version', { message: 'Unsupported x402 version: send version 1 or 2' });
    }
    throw createPaymentRejection(quote, 'invalid_payload', {
      message: `The payment cannot be read: ${issue?.path.map(String).join('.') || 'payment'}: ${issue?.message}`,
    });
  }
  const { authorization, signature } = signed.payload;
  const accepted = payment.x402Version === 2 ? fromVersion2(payment.accepted, quote) : fromVersion1(payment, quote);
  requireMatchingQuote(server, { x402Version: 2, accepted, payload: signed.payload }, quote);
  const signedText = (canonicalize({ authorization, signature }) as string).toLowerCase();
  return {
    x402Version: 2,
    accepted: quote.requirements,
    payload: { signature: signature as Hex, authorization },
    ...toPaymentListing(quote),
    authorization: toAuthorization(authorization),
    paymentId: signed.extensions?.[PAYMENT_IDENTIFIER]?.info.id ?? null,
    digest: createHash('sha256').update(signedText).digest('hex'),
  };
}

export function toPaymentListing({ resource, required: { extensions } }: PaymentQuote): PaymentListing {
  const bazaar = extensions[BAZAAR];
  return { resource, ...(bazaar === undefined ? {} : { extensions: { [BAZAAR]: bazaar } }) };
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

const TRANSACTION_HASH = /^(0x)?[0-9a-f]{64}$/i;

/** Whether a client sent a transaction, alone or as a member, in place of an authorization, as "pay on chain, then repeat with the proof" reads. */
export function holdsTransactionHash(sent: unknown): boolean {
  const members = isPlainObject(sent) ? [sent, sent.payload].filter(isPlainObject).flatMap(Object.values) : [sent];
  return members.some((member) => typeof member === 'string' && TRANSACTION_HASH.test(member));
}

type Accepted = X402PaymentRequirements;

/** The accepted terms, with what a client may spell otherwise as it is in the quote. */
function fromVersion2(accepted: Record<'asset' | 'payTo', string> & { extra?: unknown }, { requirements }: PaymentQuote): Accepted {
  const spelled = (name: 'asset' | 'payTo') => (isSame(accepted[name], requirements[name]) ? requirements[name] : accepted[name]);
  return { ...accepted, asset: spelled('asset'), payTo: spelled('payTo'), extra: accepted.extra ?? requirements.extra } as Accepted;
}

/** Version 1 repeats scheme and network of the terms alone. */
function fromVersion1({ scheme, network }: { scheme: string; network: string }, { requirements, requirementsV1 }: PaymentQuote): Accepted {
  const isQuoted = network === requirementsV1?.network;
  return { ...requirements, scheme, network: isQuoted ? requirements.network : `v1:${network}` };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Members of the terms by the reason of a mismatch; the first one counts. */
const MISMATCHES = [
  ['scheme', 'unsupported_scheme'],
  ['network', 'invalid_network'],
  ['asset', 'invalid_asset'],
  ['payTo', 'recipient_mismatch'],
  ['amount', 'amount_mismatch'],
] as const;

function requireMatchingQuote(server: x402ResourceServer, payment: X402PaymentPayload, quote: PaymentQuote): void {
  const { requirements } = quote;
  if (server.findMatchingRequirements([requirements], payment) === undefined) {
    const [, reason] = MISMATCHES.find(([name]) => payment.accepted[name] !== requirements[name]) ?? [];
    throw createPaymentRejection(quote, reason ?? 'invalid_payment_requirements');
  }
  // Signed, which the library leaves to the facilitator.
  const { to, value } = payment.payload.authorization as Record<'to' | 'value', string>;
  if (!isSame(to, requirements.payTo)) throw createPaymentRejection(quote, 'recipient_mismatch');
  if (BigInt(value) !== BigInt(requirements.amount)) throw createPaymentRejection(quote, 'amount_mismatch');
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

/**
 * Error for a rejected payment, with advice for the payer. @param reason machine-readable, verbatim when a facilitator's @param message default:
 * by the reason @param payer unset when the payment could not be parsed
 */
export function createPaymentRejection(
  quote: PaymentQuote,
  reason: string,
  { message, payer, unsettledOf }: Pick<PaymentRequiredOptions, 'unsettledOf'> & { message?: string; payer?: Address } = {},
): PaymentRequiredError {
  const advice = listAdvice(quote, payer === undefined ? null : getAddress(payer));
  // Undefined for an unknown reason.
  const [, problem, suggestedAction] = advice.find(([pattern]) => pattern.test(reason)) ?? [];
  const otherwise = unsettledOf === undefined ? 'The payment is invalid' : 'The payment could not be settled';
  const options = { field: 'payment', unsettledOf, suggestedAction };
  return new PaymentRequiredError(quote, reason, message ?? problem ?? otherwise, options);
}

/** Advice by reason of this service or of a facilitator; the first match decides. @param payer null when the payment could not be parsed */
function listAdvice(quote: PaymentQuote, payer: Address | null): [reason: RegExp, problem: string, action: string][] {
  const { merchant, requirements, requirementsV1, offering } = quote;
  const price = `${formatMoney(offering.price)} (${requirements.amount} units)`;
  const chain = requirementsV1 === null ? requirements.network : `${requirements.network} (${requirementsV1.network} in version 1)`;
  const { asset, extra, network, payTo, maxTimeoutSeconds } = requirements;
  const validBefore = `with a validBefore of ${maxTimeoutSeconds} seconds from now, in seconds since 1970.`;
  const domain = `name "${extra.name}", version "${extra.version}", chainId ${merchant.chainId}, verifyingContract ${asset}`;
  const deployFirst = 'Deploy the wallet first, as its first transaction does, or pay from another wallet.';
  return [
    [/eip6492_deployment_too_costly/, 'The deployment of the wallet with its transfer needs more gas than the price covers', deployFirst],
    [/eip6492_factory_not_allowed/, 'The wallet is not deployed yet, and its factory is none that is called for payers here', deployFirst],
    [
      /eip6492_factory_data_too_large/,
      `The factory call in the signature (ERC-6492) has more than ${MAX_FACTORY_DATA_BYTES} bytes`,
      deployFirst,
    ],
    [/eip6492_unsupported/, 'The wallet is not deployed yet, and the facilitator of this service does not deploy wallets', deployFirst],
    [
      /eip6492_signature_invalid/,
      `The factory call in the signature (ERC-6492) does not deploy ${payer ?? 'the payer'}, or the wallet does not accept the signature in it`,
      `Sign TransferWithAuthorization (EIP-712) under the domain ${domain} as the wallet will check it, and wrap it with the factory call that creates authorization.from.`,
    ],
    [
      /too_costly/,
      'Its settlement needs more gas than the price covers: the signature check of the contract wallet is too expensive',
      'Pay from a wallet of a key (EOA), or from a contract wallet with a cheaper check.',
    ],
    [
      /insufficient|balance/,
      `${payer ?? 'The wallet'} holds less than ${price} of ${extra.name}`,
      `Send ${payer ?? 'it'} at least ${price} of ${extra.name} (${asset}) on ${network}, or pay from another wallet.`,
    ],
    [/nonce|spent/, 'Its authorization was used or cancelled before', 'Sign a new authorization with a new nonce.'],
    [/factory/, 'The payer is a contract wallet that is not deployed yet', 'Deploy the wallet first, or pay from another wallet.'],
    [
      /signature|domain|token_name|token_version/,
      `The signature of this authorization is not from ${payer ?? 'the payer'}`,
      `Sign TransferWithAuthorization (EIP-712) under the domain ${domain}, with the key of authorization.from and exactly the values that you send.`,
    ],
    [/valid_before|expired|expires/, 'The authorization has expired or is about to expire', `Sign a new authorization ${validBefore}`],
    [/valid_after|not_yet/, 'The authorization is not valid yet', 'Sign one with validAfter 0, or a minute before your clock.'],
    [/too_long/, 'The authorization is valid for too long', `Sign one ${validBefore}`],
    [/network/, `The payment is not for ${chain}`, `Pay on ${chain} and name it as \`network\`.`],
    [/asset|token/, `The payment is not in ${extra.name}`, `Pay in ${extra.name}, the contract ${asset}.`],
    [/recipient|payee/, `The payee of the payment is not ${payTo}`, `Pay to ${payTo}.`],
    [/amount|value/, `The payment is not exactly ${price}`, `Authorize exactly ${price}.`],
    [
      /proof_is_hash/,
      'The payment is the hash of a transaction, which is public and proves nothing',
      `Do not transfer: sign an EIP-3009 authorization (TransferWithAuthorization) of ${requirements.amount} units of ${asset} to ${payTo} on ${network}, for the requirements of the header PAYMENT-REQUIRED, and send the request again with base64 of that x402 payment in the header PAYMENT-SIGNATURE, X-PAYMENT or X-402-Payment, as any x402 client does. Transfers pay for the offerings of POST ${merchant.publicUrl}/api/svc/commerce/purchase, which takes the hash as "txHash".`,
    ],
    [/scheme/, 'The payment does not use the scheme "exact"', 'Pay with the scheme "exact".'],
  ];
}

/** The factory calls of known wallets have some hundred bytes. */
export const MAX_FACTORY_DATA_BYTES = 2_048;
