import { z } from 'zod';
import { buildAnswerSample } from '../../../../../skills/answer-sample.ts';
import { REF_CODE_PATTERN, REF_CODE_RULE } from '../../../../commerce/ledger/ref-code.ts';
import type { Offering, PaidResource } from '../../../../commerce/price-list.ts';
import type { PaidCall, PreparedAnswer, SaleResult } from '../../../../commerce/x402/paid-call.ts';
import { type BazaarDeclaration, declareHttpResource } from '../../../../commerce/x402/protocol/bazaar.ts';
import type { PaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';
import { SAMPLE_ANSWERS } from '../../../../commerce/x402/protocol/sample-answers.ts';
import { toSaleResponse, toSettlementResponse } from '../../../../commerce/x402/protocol/settlement-response.ts';
import { DEFAULT_HORIZON, SIGNAL_HORIZONS } from '../../../../forecast/horizon-input.ts';
import { formatHorizonName } from '../../../../forecast/model.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { HttpDeps } from '../../deps.ts';
import { signalDaysInput } from '../../server/parsing/parameters.ts';
import { buildSettlementHeaders, encodePaymentHeader, SETTLEMENT_HEADERS } from '../../server/payments/payment-headers.ts';
import { type PaymentProof, readPaymentProof } from '../../server/payments/payment-proof.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import type { SOLD } from '../payment-schemas.ts';

export const REF_QUERY = z.object({
  ref: z
    .string({ error: `must be given once, with ${REF_CODE_RULE}` })
    .regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`)
    .optional()
    .describe(`Ref code of the partner, in any case: ${REF_CODE_RULE}`),
});

const PAID_QUERY = z.object({ horizon: signalDaysInput, ...REF_QUERY.shape });

/** Errors of a sale, besides those that follow from parameters and access. */
export const SALE_ERRORS = ['CONFLICT', 'STEP_WAITING', 'CHAIN_UNREACHABLE', 'SIGNER_UNAVAILABLE', 'TRANSACTION_UNCONFIRMED'] as const;

export const PAID_INPUT = {
  type: 'object',
  properties: {
    horizon: {
      type: 'string',
      enum: SIGNAL_HORIZONS,
      default: '7d',
      description: 'Days from the opening of the outcome window to its end; 1d and bare numbers such as 7 are accepted',
    },
    ref: { type: 'string', pattern: REF_CODE_PATTERN.source, description: 'Ref code of the partner' },
  },
} as const;

interface PaidOperation<R extends z.ZodType> extends Pick<Route, 'name' | 'summary' | 'description'> {
  offering: Offering & { resource: PaidResource };
  reply: R;
  /** Schema of an answer that is charged. */
  charged: z.ZodObject;
  /** Called after the payment is verified, before it settles. */
  answer(horizonDays: number): Promise<PreparedAnswer>;
}

/** A paid operation. The answer is computed between verification and settlement of the payment, and depends on neither. */
export function createPaidRoute<R extends z.ZodType>(
  { commerce, publicUrl }: Pick<HttpDeps, 'commerce' | 'publicUrl'>,
  { name, offering, reply, charged, answer, ...declared }: PaidOperation<R>,
): Route {
  const { sales } = commerce;
  const bazaar = declareListing(offering, charged);
  return route(`GET ${offering.resource.path}`, name, {
    ...declared,
    tag: 'signal',
    access: 'paid',
    offering,
    query: PAID_QUERY,
    reply,
    errors: ['UNAUTHENTICATED', ...SALE_ERRORS],
    async handle({ query, context, header, isHead }) {
      const resource = buildPaidResource(offering, publicUrl, query.horizon);
      const quote = sales.getQuote({ offering, resource, bazaar });
      // HEAD is never charged.
      const paymentProof = isHead ? null : readPaymentProof(header, quote);
      const call: PaidCall = {
        offering,
        resource,
        bazaar,
        input: { horizon: formatHorizonName(query.horizon) },
        payment: paymentProof?.payment ?? null,
        ref: query.ref ?? null,
        address: context.address,
        requireRejectionAllowance: (payer) => context.requirePaymentRoom(payer),
        hasRejectionAllowance: (payer) => context.hasPaymentRoom(payer),
        countRejection: (payer) => context.countRejectedPayment(payer),
        answer: () => answer(query.horizon),
      };
      return toSoldReply(await sales.sell(call), quote, paymentProof) as Reply<R extends z.ZodType ? z.input<R> : never>;
    },
  });
}

/** One listing for all horizons: directories drop the query of the URL. */
function declareListing({ name }: Offering, charged: z.ZodObject): BazaarDeclaration {
  const query = { example: { horizon: DEFAULT_HORIZON }, schema: PAID_INPUT };
  return declareHttpResource(query, buildAnswerSample(charged, SAMPLE_ANSWERS[name] ?? {}));
}

/** The paid resource with the canonical URL of quotes and receipts. */
export function buildPaidResource(
  { resource: { path, describe } }: PaidOperation<z.ZodType>['offering'],
  publicUrl: string,
  horizonDays: number,
) {
  const url = `${joinUrl(publicUrl, path)}?horizon=${formatHorizonName(horizonDays)}`;
  return { url, description: describe(horizonDays), mimeType: 'application/json' };
}

function toSoldReply(sold: SaleResult, quote: PaymentQuote, paymentProof: PaymentProof | null): Reply {
  const { body, payment, x402Receipt } = sold;
  if (payment === null) return { body: { ...body, payment: null, receipt: null } };
  return { headers: buildSoldHeaders({ payment, x402Receipt }, quote, paymentProof), body: buildSoldBody(sold) };
}

export function buildSoldHeaders(
  settled: Parameters<typeof toSettlementResponse>[0],
  quote: PaymentQuote,
  paymentProof: PaymentProof | null,
): Record<string, string> {
  return buildSettlementHeaders((network) => toSettlementResponse(settled, network), quote, paymentProof?.headers ?? []);
}

/** An answer that is delivered again without its payment, with the settlement in version 2. */
export function toRedeliveredReply(sold: SaleResult): { body: ReturnType<typeof buildSoldBody>; headers: Record<string, string> } {
  const payment = sold.payment!;
  const settlement = toSettlementResponse({ payment, x402Receipt: sold.x402Receipt }, payment.chain);
  const header = encodePaymentHeader({ ...settlement, amount: payment.amountMicros.toString() });
  return { body: buildSoldBody(sold), headers: { [SETTLEMENT_HEADERS.v2]: header } };
}

function buildSoldBody({ body, payment, receipt }: SaleResult): Record<string, unknown> & SoldMembers {
  return { ...body, ...toSaleResponse({ payment: payment!, receipt: receipt! }) };
}

type SoldMembers = { [Name in keyof typeof SOLD]: z.input<(typeof SOLD)[Name]> };
