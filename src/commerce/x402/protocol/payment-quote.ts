import { type Address, getAddress } from 'viem';
import { OracleError } from '../../../platform/errors.ts';
import { getCaip2Network, type MerchantConfig } from '../../merchant-config.ts';
import { formatMoney } from '../../money.ts';
import type { Offering } from '../../offerings.ts';
import { toX402ErrorCode, type X402ErrorCode } from './error-codes.ts';

/** For how long an authorization that a client makes of the terms is good. */
export const PAYMENT_VALID_SECONDS = 300;

/** Names of chains in version 1 of the protocol; a chain without one takes version 2 only. */
const V1_NETWORKS: Readonly<Record<number, string>> = { 8453: 'base', 84532: 'base-sepolia' };

/** Declared in the terms: a client may add an id of its own, 16 to 128 characters, under which the answer is kept for it. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_ID_PATTERN = /^[a-zA-Z0-9_-]{16,128}$/;

/** What is paid for, as protocols name it. */
export interface ResourceInfo {
  url: string;
  description: string;
  mimeType: string;
}

/** What has to be paid in version 2 of the protocol. */
export interface PaymentRequirements {
  scheme: 'exact';
  network: `${string}:${string}`;
  /** Smallest units of the asset. */
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: { name: string; version: string };
}

/** The same in version 1. */
export interface PaymentRequirementsV1 extends Omit<PaymentRequirements, 'network' | 'amount'> {
  network: string;
  maxAmountRequired: string;
  resource: string;
  description: string;
  mimeType: string;
}

/** What is asked for a resource, in all forms that clients understand. */
export interface PaymentQuote {
  offering: Offering;
  resource: ResourceInfo;
  requirements: PaymentRequirements;
  /** Null on a chain that version 1 has no name for. */
  requirementsV1: PaymentRequirementsV1 | null;
  merchant: MerchantConfig;
}

/** `PaymentRequired` of version 2, as its header, MCP and A2A carry it. */
export interface PaymentRequired {
  x402Version: 2;
  error: X402ErrorCode;
  resource: ResourceInfo;
  accepts: [PaymentRequirements];
  extensions: Record<string, unknown>;
}

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
  return { offering, resource, requirements: { ...shared, network: getCaip2Network(merchant), amount }, requirementsV1, merchant };
}

/** @param error why no payment, or this one, will do */
export function createPaymentRequired({ resource, requirements }: PaymentQuote, error: X402ErrorCode): PaymentRequired {
  return { x402Version: 2, error, resource, accepts: [requirements], extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifier() } };
}

function declarePaymentIdentifier() {
  const id = { type: 'string', minLength: 16, maxLength: 128, pattern: PAYMENT_ID_PATTERN.source };
  return {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { required: { type: 'boolean' }, id },
      required: ['required'],
    },
  };
}

/** Nothing was paid, or what came is no payment for this: with the terms, which each door tells in its own form. */
export class PaymentRequiredError extends OracleError {
  readonly quote: PaymentQuote;
  /** Of the specification, for programs. */
  readonly x402Code: X402ErrorCode;
  /** The same more precisely, in words of this service or of its facilitator. */
  readonly reason: string;
  /** Who had signed a payment that was found good and then not settled; undefined where nothing came that far. */
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

/** Where the service says in plain text how it is paid. */
export function getPaymentDocsUrl(publicUrl: string): string {
  return `${publicUrl}/SKILL.md#or-pay-for-a-single-answer`;
}

/** Of a request that brings no payment: what it asks for, and what that costs. */
export function noPaymentError(quote: PaymentQuote): PaymentRequiredError {
  const { title, price } = quote.offering;
  const description = quote.resource.description.replace(/\.?$/, '.');
  return new PaymentRequiredError(quote, 'payment_required', `${title}: ${description} It costs ${formatMoney(price)}`);
}

function formatPaymentHint({ merchant, requirements, offering }: PaymentQuote): string {
  return `Sign an EIP-3009 authorization of ${requirements.amount} units (${formatMoney(offering.price)}) of ${requirements.asset} to ${requirements.payTo} on ${requirements.network} and send the request again with it, as any x402 client does; ${getPaymentDocsUrl(merchant.publicUrl)} says how.`;
}
