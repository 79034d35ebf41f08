import type { PaymentRequired as X402PaymentRequired, PaymentRequirements as X402PaymentRequirements } from '@x402/core/types';
import { type Address, getAddress } from 'viem';
import { OracleError } from '../../errors.ts';
import { type ForecastTerms, formatMoney, getCaip2Network, type MerchantConfig, type Offering, type SellerInfo } from '../offerings.ts';
import { OFFER_RECEIPT, type SignedOffer } from '../receipts.ts';

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

export interface PaymentQuote extends QuotedExtensions {
  offering: Offering;
  resource: ResourceInfo;
  requirements: PaymentRequirements;
  /** Null on a chain without a version 1 name. */
  requirementsV1: PaymentRequirementsV1 | null;
  merchant: MerchantConfig;
  /** Stand in a body alone: headers have no room for them. */
  revealedCalls?: ForecastTerms['revealedCalls'];
}

export interface PaymentRequired extends X402PaymentRequired {
  x402Version: 2;
  error: X402ErrorCode;
  resource: ResourceInfo;
  accepts: [PaymentRequirements];
  extensions: Record<string, unknown>;
}

/** Without the parts of extensions that differ between two quotes of a resource. */
export function buildPaymentQuote(merchant: MerchantConfig, offering: Offering, resource: ResourceInfo): PaymentQuote {
  const shared = {
    scheme: 'exact',
    asset: getAddress(merchant.asset),
    payTo: getAddress(merchant.payee),
    maxTimeoutSeconds: PAYMENT_VALID_SECONDS,
    extra: { ...merchant.domain },
  } as const;
  const amount = offering.price.amount.toString();
  const { url, description, mimeType } = resource;
  const network = V1_NETWORKS[merchant.chainId];
  const requirementsV1 =
    network === undefined ? null : { ...shared, network, maxAmountRequired: amount, resource: url, description, mimeType };
  return {
    offering,
    resource: { ...resource, ...merchant.service },
    requirements: { ...shared, network: getCaip2Network(merchant), amount },
    requirementsV1,
    merchant,
    offer: null,
  };
}

/** @param error why the payment, or its absence, is rejected */
export function createPaymentRequired(quote: PaymentQuote, error: X402ErrorCode): PaymentRequired {
  const { resource, requirements } = quote;
  return { x402Version: 2, error, resource, accepts: [requirements], extensions: buildPaymentExtensions(quote) };
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

/** Discovery extension, by which facilitators list paid resources (x402, specs/extensions/bazaar.md). */
export const BAZAAR = 'bazaar';

export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type JsonSchema = Record<string, unknown>;

/** `schema` validates `info`. */
export interface BazaarDeclaration {
  info: { input: Record<string, unknown>; output: { type: 'json'; example: Record<string, unknown> } };
  schema: JsonSchema;
}

export interface AnswerSample {
  /** A constant: it carries nothing of a forecast. */
  example: Record<string, unknown>;
  /** Schema of the members of `example`. */
  schema: JsonSchema;
}

/** A resource that is bought with a GET request. @param query example and schema of its query */
export function declareHttpResource(query: AnswerSample, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'http', method: 'GET', queryParams: query.example };
  const properties = {
    type: { type: 'string', const: 'http' },
    method: { type: 'string', enum: ['GET'] },
    queryParams: query.schema,
  };
  return declare(input, { properties, required: ['type', 'method'] }, output);
}

/** A resource that is bought with a POST request of JSON. @param body example and schema of its body */
export function declareJsonResource(body: AnswerSample, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'http', method: 'POST', bodyType: 'json', body: body.example };
  const properties = {
    type: { type: 'string', const: 'http' },
    method: { type: 'string', enum: ['POST'] },
    bodyType: { type: 'string', enum: ['json'] },
    body: body.schema,
  };
  return declare(input, { properties, required: ['type', 'method', 'bodyType', 'body'] }, output);
}

/** A tool of an MCP server over Streamable HTTP, which the listing identifies by server URL and name. @param example arguments */
export function declareMcpTool(
  tool: { toolName: string; description: string; inputSchema: JsonSchema; example: Record<string, unknown> },
  output: AnswerSample,
): BazaarDeclaration {
  const input = { type: 'mcp', transport: 'streamable-http', ...tool };
  const text = { type: 'string' };
  const object = { type: 'object' };
  const properties = {
    type: { type: 'string', const: 'mcp' },
    transport: { type: 'string', enum: ['streamable-http'] },
    ...{ toolName: text, description: text, inputSchema: object, example: object },
  };
  return declare(input, { properties, required: ['type', 'toolName', 'inputSchema'] }, output);
}

function declare(input: Record<string, unknown>, inputSchema: JsonSchema, output: AnswerSample): BazaarDeclaration {
  const outputSchema = { type: 'object', properties: { type: { type: 'string' }, example: output.schema }, required: ['type'] };
  return {
    info: { input, output: { type: 'json', example: output.example } },
    schema: {
      $schema: SCHEMA_DIALECT,
      type: 'object',
      properties: { input: { type: 'object', ...inputSchema, additionalProperties: false }, output: outputSchema },
      required: ['input'],
    },
  };
}

/** An optional id of the client, 16 to 128 characters, that entitles it to the stored answer. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_ID_PATTERN = /^[a-zA-Z0-9_-]{16,128}$/;

/** What the extensions of a quote declare. */
export interface QuotedExtensions {
  /** Unset for what no facilitator lists. */
  bazaar?: BazaarDeclaration;
  /** Null when it is not signed in time. */
  offer: SignedOffer | null;
}

/**
 * `extensions` of a 402, by name. PAYMENT-REQUIRED carries them in base64; Node's clients accept 16 kB of headers in all, and proxies by
 * default 4 kB. So a schema names the required members, and leaves their forms to the specification.
 */
function buildPaymentExtensions({ bazaar, offer }: QuotedExtensions): Record<string, unknown> {
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

/** A forecast that was never made, as an example in listings: constants, so that they carry nothing of a real one. */
const SAMPLE_FORECAST = {
  signal: 'BUY',
  direction: 'UP',
  confidence: 0.5431,
  pUp: 0.5431,
  horizon: '7d',
  date: '2024-01-01',
  predictionId: '2024-01-01:7d',
  windowOpensAt: '2024-01-02T00:00:00.000Z',
  resolvesAt: '2024-01-09T00:00:00.000Z',
};

const SAMPLE_PROOF = { salt: `0x${'5a'.repeat(32)}`, attestationUid: `0x${'a7'.repeat(32)}` };

const SAMPLE_BREAKDOWN = {
  categories: {
    trend: { signal: 'BUY', score: 0.41 },
    momentum: { signal: 'HOLD', score: 0.12 },
    flow: { signal: 'HOLD', score: -0.08 },
    value: { signal: 'BUY', score: 0.23 },
  },
  quantiles: [
    { level: 0.1, price: 39_480.5 },
    { level: 0.5, price: 42_310.25 },
    { level: 0.9, price: 45_702.75 },
  ],
};

/** The members of an answer that a listing shows, by name of the x402 offering. */
export const SAMPLE_ANSWERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  x402_signal: { ...SAMPLE_FORECAST, ...SAMPLE_PROOF },
  x402_premium_signal: { ...SAMPLE_FORECAST, ...SAMPLE_BREAKDOWN },
};
