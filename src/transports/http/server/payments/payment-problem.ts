import type { Request } from 'express';
import type { z } from 'zod';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { formatAmount } from '../../../../commerce/money.ts';
import { getOfferingId } from '../../../../commerce/price-list.ts';
import {
  createPaymentRequired,
  getPaymentDocsUrl,
  type PaymentQuote,
  type PaymentRequiredError,
} from '../../../../commerce/x402/protocol/payment-quote.ts';
import { toFailedSettlementResponse } from '../../../../commerce/x402/protocol/settlement-response.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { PAYMENT_MEMBERS } from '../../commerce/x402/schemas.ts';
import { buildSettlementHeaders, encodePaymentHeader, PAYMENT_HEADERS, PAYMENT_REQUIRED_HEADER } from './payment-headers.ts';

type PaymentMembers = z.input<z.ZodObject<typeof PAYMENT_MEMBERS>>;

/** Members and headers that a 402 adds to a problem document: the quote in both versions of x402, and a summary for people. */
export function buildPaymentProblem(
  { quote, reason, x402Code, unsettledOf: payer }: PaymentRequiredError,
  request: Pick<Request, 'get'>,
): { members: PaymentMembers; headers: Record<string, string> } {
  const sentIn = PAYMENT_HEADERS.filter((name) => request.get(name) !== undefined);
  const unsettled =
    payer === undefined ? {} : buildSettlementHeaders((network) => toFailedSettlementResponse({ payer, x402Code }, network), quote, sentIn);
  return {
    members: {
      x402Version: 1,
      error: x402Code,
      ...(reason === x402Code ? {} : { reason }),
      accepts: quote.requirementsV1 === null ? [] : [quote.requirementsV1],
      payment: summarizeQuote(quote),
    },
    headers: { [PAYMENT_REQUIRED_HEADER]: encodePaymentHeader(createPaymentRequired(quote, x402Code)), ...unsettled },
  };
}

function summarizeQuote({ offering, requirements, requirementsV1, resource, merchant }: PaymentQuote): PaymentMembers['payment'] {
  const { scheme, amount, asset, payTo, network: chain, maxTimeoutSeconds, extra } = requirements;
  const at = (path: string) => joinUrl(merchant.publicUrl, path);
  return {
    offering: getOfferingId(offering),
    resource: resource.url,
    scheme,
    amount,
    usd: formatAmount(offering.price),
    asset,
    assetName: extra.name,
    payTo,
    chain,
    network: requirementsV1?.network ?? null,
    validForSeconds: maxTimeoutSeconds,
    realMoney: merchant.realMoney,
    docs: getPaymentDocsUrl(merchant.publicUrl),
    reference: at('/docs'),
    terms: at(ENDPOINTS.x402),
    otherwise: `Offerings can also be bought by a transfer and a signed POST ${at('/api/svc/commerce/purchase')}; ${at('/api/svc/commerce/offerings?channel=purchase')} lists them. A token of a tier (POST ${at('/api/svc/oracle/verify')}) opens ${at('/api/svc/oracle')} without a payment.`,
  };
}
