import type { x402ResourceServer } from '@x402/core/server';
import type { PaymentRequired as X402PaymentRequired, PaymentRequirements as X402PaymentRequirements } from '@x402/core/types';
import { type Address, getAddress } from 'viem';
import { OracleError } from '../../errors.ts';
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

/** @param error why the payment, or its absence, is rejected */
export function createPaymentRequired({ required }: PaymentQuote, error: X402ErrorCode): PaymentRequired {
  return { ...required, error };
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
