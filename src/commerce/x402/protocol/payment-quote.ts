import type { PaymentRequired as X402PaymentRequired, PaymentRequirements as X402PaymentRequirements } from '@x402/core/types';
import { type Address, getAddress } from 'viem';
import { OracleError } from '../../../platform/errors.ts';
import { getCaip2Network, type MerchantConfig, type SellerInfo } from '../../merchant-config.ts';
import { formatMoney } from '../../money.ts';
import type { Offering } from '../../price-list.ts';
import { toX402ErrorCode, type X402ErrorCode } from './error-codes.ts';
import { buildPaymentExtensions, type QuotedExtensions } from './payment-extensions.ts';

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
export interface PaymentRequirementsV1 extends Omit<PaymentRequirements, 'network' | 'amount'> {
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
