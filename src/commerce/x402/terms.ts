import { createHash } from 'node:crypto';
import { PaymentPayloadSchema } from '@x402/core/schemas';
import type { x402ResourceServer } from '@x402/core/server';
import type { PaymentRequired as X402PaymentRequired, PaymentRequirements as X402PaymentRequirements } from '@x402/core/types';
import canonicalize from 'canonicalize';
import { type Address, getAddress, type Hex } from 'viem';
import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { isPlainObject } from '../../platform/validation.ts';
import { type ForecastTerms, formatMoney, getCaip2Network, type MerchantConfig, type Offering, type SellerInfo } from '../offerings.ts';
import { OFFER_RECEIPT, type SignedOffer } from '../receipts.ts';
import { BAZAAR, type BazaarDeclaration, SCHEMA_DIALECT } from './bazaar.ts';

/** `maxTimeoutSeconds` of the quote, which clients use as the validity of their authorization. */
const PAYMENT_VALID_SECONDS = 300;
/** Network names of protocol version 1; other chains support version 2 only. */
const V1_NETWORKS: Readonly<Record<number, string>> = { 8453: 'base', 84532: 'base-sepolia' };

export interface ResourceInfo extends Partial<SellerInfo> {
  url: string;
  description: string;
  mimeType: string;
}

/** `PaymentRequirements` of version 2, as this service offers them. */
export interface PaymentRequirements extends X402PaymentRequirements {
  scheme: 'exact';
  extra: { name: string; version: string };
}

/** `PaymentRequirements` of version 1. */
interface PaymentRequirementsV1 extends Omit<PaymentRequirements, 'network' | 'amount'> {
  network: string;
  maxAmountRequired: string;
  resource: string;
  description: string;
  mimeType: string;
}

export interface PaymentQuote {
  offering: Offering;
  resource: ResourceInfo;
  requirements: PaymentRequirements;
  /** Null on a chain without a version 1 name. */
  requirementsV1: PaymentRequirementsV1 | null;
  /** In version 2, without the error. */
  required: Omit<PaymentRequired, 'error'>;
  merchant: MerchantConfig;
  /** Stand in a body alone: headers have no room for them. */
  revealedCalls?: ForecastTerms['revealedCalls'];
}

export interface PaymentRequired extends X402PaymentRequired {
  error: X402ErrorCode;
  resource: ResourceInfo;
  extensions: Record<string, unknown>;
}

export interface QuotedResource {
  offering: Offering;
  resource: ResourceInfo;
  /** Unset for what no facilitator lists. */
  bazaar?: BazaarDeclaration | undefined;
}

export interface OfferedTerms {
  resourceUrl: string;
  requirements: PaymentRequirements;
}

/** The terms as the resource server makes them. @param findOffer null when it is not signed in time */
export async function buildPaymentQuote(
  server: x402ResourceServer,
  merchant: MerchantConfig,
  { offering, resource: named, bazaar }: QuotedResource,
  findOffer: (terms: OfferedTerms) => SignedOffer | null | Promise<SignedOffer | null> = () => null,
): Promise<PaymentQuote> {
  const { url, description, mimeType } = named;
  const { asset, payee, domain, chainId } = merchant;
  const built = await server.buildPaymentRequirements({
    scheme: 'exact',
    network: getCaip2Network(merchant),
    payTo: getAddress(payee),
    price: { asset: getAddress(asset), amount: offering.price.amount.toString(), extra: { ...domain } },
    maxTimeoutSeconds: PAYMENT_VALID_SECONDS,
  });
  const [requirements] = built as [PaymentRequirements];
  const resource = { ...named, ...merchant.service };
  const extensions = buildPaymentExtensions(bazaar, await findOffer({ resourceUrl: url, requirements }));
  const required = await server.createPaymentRequiredResponse(built, resource, undefined, extensions);
  const { amount, ...shared } = requirements;
  const network = V1_NETWORKS[chainId];
  const v1 = { maxAmountRequired: amount, resource: url, description, mimeType };
  const requirementsV1 = network === undefined ? null : { ...shared, network, ...v1 };
  return { offering, resource, requirements, requirementsV1, required: required as PaymentQuote['required'], merchant };
}

/** An optional id of the client, 16 to 128 characters, that entitles it to the stored answer. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_ID_PATTERN = /^[a-zA-Z0-9_-]{16,128}$/;

/**
 * `extensions` of a 402, by name. PAYMENT-REQUIRED carries them in base64; Node's clients accept 16 kB of headers in all, and proxies by
 * default 4 kB. So a schema names the required members, and leaves their forms to the specification.
 */
function buildPaymentExtensions(bazaar: BazaarDeclaration | undefined, offer: SignedOffer | null): Record<string, unknown> {
  return {
    [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION,
    ...(bazaar === undefined ? {} : { [BAZAAR]: bazaar }),
    ...(offer === null ? {} : { [OFFER_RECEIPT]: { info: { offers: [offer] }, schema: OFFERS_SCHEMA } }),
  };
}

const PAYMENT_IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: SCHEMA_DIALECT,
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: PAYMENT_ID_PATTERN.source },
    },
    required: ['required'],
  },
};

const OFFERS_SCHEMA = { $schema: SCHEMA_DIALECT, type: 'object', properties: { offers: { type: 'array' } }, required: ['offers'] };

/** @param error why the payment, or its absence, is rejected */
export function createPaymentRequired({ required }: PaymentQuote, error: X402ErrorCode): PaymentRequired {
  return { ...required, error };
}

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

/** Part of the `PaymentPayload` of the library that settles the payment: of version 2, whatever the client sent. */
export interface PaymentPayload {
  x402Version: 2;
  accepted: PaymentRequirements;
  payload: { signature: Hex; authorization: Record<keyof Authorization, string> };
}

/** By which a remote facilitator lists the resource; from the quote, since clients can alter theirs. */
type PaymentListing = Pick<PaymentQuote['required'], 'resource' | 'extensions'>;

export interface ParsedPayment extends PaymentPayload, Partial<PaymentListing> {
  authorization: Authorization;
  /** `payment-identifier` of the client, or null. */
  paymentId: string | null;
  /** SHA-256 of authorization and signature. */
  digest: string;
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
  requireMatchingQuote(server, { accepted, authorization }, quote);
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
  const { [BAZAAR]: bazaar } = extensions;
  return { resource, extensions: bazaar === undefined ? {} : { [BAZAAR]: bazaar } };
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

/** The accepted terms, with what a client may spell otherwise as it is in the quote. */
function fromVersion2(accepted: Record<'asset' | 'payTo', string> & { extra?: unknown }, { requirements }: PaymentQuote) {
  const spelled = (name: 'asset' | 'payTo') => (isSame(accepted[name], requirements[name]) ? requirements[name] : accepted[name]);
  const { extra } = requirements;
  return { ...accepted, asset: spelled('asset'), payTo: spelled('payTo'), extra: accepted.extra ?? extra } as X402PaymentRequirements;
}

/** Version 1 repeats scheme and network of the terms alone. */
function fromVersion1({ scheme, network }: { scheme: string; network: string }, { requirements, requirementsV1 }: PaymentQuote) {
  const isQuoted = network === requirementsV1?.network;
  return { ...requirements, scheme, network: isQuoted ? requirements.network : (`v1:${network}` as const) };
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

/** @throws PaymentRequiredError for other terms than those of the quote, or an authorization that does not fulfil them */
function requireMatchingQuote(
  server: x402ResourceServer,
  { accepted, authorization: { to, value } }: { accepted: X402PaymentRequirements; authorization: { to: string; value: string } },
  quote: PaymentQuote,
): void {
  const { requirements } = quote;
  if (server.findMatchingRequirements([requirements], { x402Version: 2, accepted, payload: {} }) === undefined) {
    const [, reason] = MISMATCHES.find(([name]) => accepted[name] !== requirements[name]) ?? [];
    throw createPaymentRejection(quote, reason ?? 'invalid_payment_requirements');
  }
  // The library leaves what is signed to the facilitator.
  if (!isSame(to, requirements.payTo)) throw createPaymentRejection(quote, 'recipient_mismatch');
  if (BigInt(value) !== BigInt(requirements.amount)) throw createPaymentRejection(quote, 'amount_mismatch');
}

/** @throws PaymentRequiredError outside the validity period */
export function requireValidNow({ authorization: { validAfter, validBefore } }: ParsedPayment, quote: PaymentQuote, now: Date): void {
  const seconds = BigInt(Math.floor(now.getTime() / 1_000));
  if (validAfter > seconds) throw createPaymentRejection(quote, 'not_yet_valid');
  if (validBefore <= seconds) throw createPaymentRejection(quote, 'expired');
  if (validBefore < seconds + BigInt(MIN_REMAINING_SECONDS)) {
    const message = `authorization.validBefore must be at least ${MIN_REMAINING_SECONDS} s ahead`;
    throw createPaymentRejection(quote, 'expires_too_soon', { message });
  }
  if (validBefore > seconds + BigInt(MAX_REMAINING_SECONDS)) {
    const message = `The authorization is valid for more than ${MAX_REMAINING_SECONDS / 3_600} hours`;
    throw createPaymentRejection(quote, 'valid_too_long', { message });
  }
}

/** No payment or a rejected one. Carries the quote, which each transport serializes in its own form. */
export class PaymentRequiredError extends OracleError {
  readonly quote: PaymentQuote;
  readonly x402Code: X402ErrorCode;
  /** Finer reason of this service or of its facilitator. */
  readonly reason: string;
  /** Payer of a verified payment that failed to settle; otherwise undefined. */
  readonly unsettledOf: Address | undefined;

  constructor(quote: PaymentQuote, reason: string, message: string, options: PaymentRequiredOptions = {}) {
    const { field, suggestedAction = formatPaymentHint(quote), unsettledOf } = options;
    super('PAYMENT_REQUIRED', message, { field, suggestedAction });
    this.quote = quote;
    this.reason = reason;
    this.x402Code = toX402ErrorCode(reason, unsettledOf === undefined ? 'verify' : 'settle');
    this.unsettledOf = unsettledOf;
  }
}

export interface PaymentRequiredOptions {
  field?: string;
  suggestedAction?: string;
  unsettledOf?: Address;
}

export function getPaymentDocsUrl(publicUrl: string): string {
  return `${publicUrl}/SKILL.md#or-pay-for-a-single-answer`;
}

export function noPaymentError(quote: PaymentQuote): PaymentRequiredError {
  const { title, price } = quote.offering;
  const description = quote.resource.description.replace(/\.?$/, '.');
  return new PaymentRequiredError(quote, 'payment_required', `${title}: ${description} It costs ${formatMoney(price)}`);
}

function formatPaymentHint({ merchant, requirements, offering }: PaymentQuote): string {
  return `Sign an EIP-3009 authorization of ${requirements.amount} units (${formatMoney(offering.price)}) of ${requirements.asset} to ${requirements.payTo} on ${requirements.network} and send the request again with it, as any x402 client does; ${getPaymentDocsUrl(merchant.publicUrl)} says how.`;
}

/** Error codes of x402 version 2, section 9. */
export const X402_ERROR_CODES = [
  'insufficient_funds',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'unsupported_scheme',
  'invalid_x402_version',
  'invalid_transaction_state',
  'unexpected_verify_error',
  'unexpected_settle_error',
] as const;

/** `payment_required` for a request without a payment, which the specification has no code for. */
export type X402ErrorCode = (typeof X402_ERROR_CODES)[number] | 'payment_required';

const KNOWN_CODES: ReadonlySet<string> = new Set<X402ErrorCode>([...X402_ERROR_CODES, 'payment_required']);

/** Maps finer reasons of this service and of facilitators; the first match decides. */
const CODE_BY_REASON: readonly (readonly [reason: RegExp, code: X402ErrorCode])[] = [
  [/too_costly|nonce|spent|payment_used|CONFLICT|simulation|transaction_/, 'invalid_transaction_state'],
  [/insufficient_(funds|balance)/, 'insufficient_funds'],
  [/two_payments|proof_is_hash/, 'invalid_payload'],
  [/valid_before|expired|expires|too_long/, 'invalid_exact_evm_payload_authorization_valid_before'],
  [/valid_after|not_yet/, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/signature|factory|eip6492|domain|token_name|token_version/, 'invalid_exact_evm_payload_signature'],
  [/recipient|payee/, 'invalid_exact_evm_payload_recipient_mismatch'],
  [/amount|value/, 'invalid_exact_evm_payload_authorization_value_mismatch'],
  [/network/, 'invalid_network'],
  [/asset|token/, 'invalid_payment_requirements'],
  [/scheme/, 'unsupported_scheme'],
];

/** @param step of the rejection, decisive for an unknown reason; a facilitator's reason is taken verbatim */
export function toX402ErrorCode(reason: string, step: 'verify' | 'settle'): X402ErrorCode {
  if (KNOWN_CODES.has(reason)) return reason as X402ErrorCode;
  const [, code] = CODE_BY_REASON.find(([pattern]) => pattern.test(reason)) ?? [];
  return code ?? (step === 'verify' ? 'unexpected_verify_error' : 'unexpected_settle_error');
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
    [
      /payment_requirements/,
      'The payment accepts other terms than those of this resource',
      'Send an entry of `accepts` unchanged as `accepted`.',
    ],
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
