import type { Request } from 'express';
import type { z } from 'zod';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { urlAt } from '../../agent-card/url.ts';
import { formatAmount } from '../commerce/money.ts';
import { offeringId } from '../commerce/offerings.ts';
import { type PaymentRequiredError, payingDocs, paymentRequired, type Terms } from '../commerce/x402/terms.ts';
import { refusedSettlement } from '../commerce/x402/told.ts';
import { headerValue, PROOF_HEADERS, settlementHeaders, TERMS_HEADER } from './payment-headers.ts';
import type { PAYMENT_MEMBERS } from './schemas/x402.ts';

/** What a 402 has beside a problem document: the terms in the words of both versions of the protocol, and in plain ones. */
export function paymentProblem(
  { terms, reason, x402Code, unsettledOf: payer }: PaymentRequiredError,
  request: Pick<Request, 'get'>,
): { members: PaymentMembers; headers: Record<string, string> } {
  const came = PROOF_HEADERS.filter((name) => request.get(name) !== undefined);
  const unsettled = payer === undefined ? {} : settlementHeaders((network) => refusedSettlement({ payer, x402Code }, network), terms, came);
  return {
    members: {
      x402Version: 1,
      error: x402Code,
      ...(reason === x402Code ? {} : { reason }),
      accepts: terms.requirementsV1 === null ? [] : [terms.requirementsV1],
      payment: inPlainWords(terms),
    },
    headers: { [TERMS_HEADER]: headerValue(paymentRequired(terms, x402Code)), ...unsettled },
  };
}

type PaymentMembers = z.input<z.ZodObject<typeof PAYMENT_MEMBERS>>;

function inPlainWords({ offering, requirements, requirementsV1, resource, till }: Terms): PaymentMembers['payment'] {
  const { scheme, amount, asset, payTo, network: chain, maxTimeoutSeconds, extra } = requirements;
  const at = (path: string) => urlAt(till.publicUrl, path);
  return {
    offering: offeringId(offering),
    resource: resource.url,
    scheme,
    amount,
    usd: formatAmount(offering.price),
    ...{ asset, assetName: extra.name, payTo, chain },
    network: requirementsV1?.network ?? null,
    validForSeconds: maxTimeoutSeconds,
    realMoney: till.realMoney,
    docs: payingDocs(till.publicUrl),
    reference: at('/docs'),
    terms: at(ENDPOINTS.x402),
    otherwise: `A transfer, then a signed POST ${at('/api/svc/commerce/purchase')}, buys offerings too: ${at('/api/svc/commerce/offerings?channel=purchase')} lists them. A token of a tier (POST ${at('/api/svc/oracle/verify')}) opens ${at('/api/svc/oracle')} without a payment.`,
  };
}
