import { z } from 'zod';
import { urlAt } from '../../agent-card/url.ts';
import type { Offering, PaidResource } from '../commerce/offerings.ts';
import { REF_CODE, REF_CODE_RULE } from '../commerce/ref-code.ts';
import type { PaidCall, PreparedAnswer, Sold } from '../commerce/x402/paid-call.ts';
import type { Terms } from '../commerce/x402/terms.ts';
import { settlementResponse, toldPurchase } from '../commerce/x402/told.ts';
import { horizonName } from '../forecast/model.ts';
import { SIGNAL_HORIZONS } from '../horizon-input.ts';
import { signalHorizon } from './parameters.ts';
import type { HttpParts } from './parts.ts';
import { settlementHeaders } from './payment-headers.ts';
import { type Proof, readProof } from './payment-proof.ts';
import { type Reply, type Route, route } from './route.ts';
import type { SOLD } from './schemas/payment.ts';

const PAID_QUERY = z.object({
  horizon: signalHorizon,
  ref: z
    .string({ error: `must be given once, with ${REF_CODE_RULE}` })
    .regex(REF_CODE, `must have ${REF_CODE_RULE}`)
    .optional()
    .describe(`Code of the partner who sent the buyer, in any case: ${REF_CODE_RULE}`),
});

/** The query of every paid operation as a JSON Schema. */
export const PAID_INPUT = {
  type: 'object',
  properties: {
    horizon: {
      type: 'string',
      enum: SIGNAL_HORIZONS,
      default: '7d',
      description: 'Days from the opening of the outcome window to its end; 1d is accepted too, and the number alone, such as 7',
    },
    ref: { type: 'string', pattern: REF_CODE.source, description: 'Code of the partner who sent the buyer' },
  },
} as const;

export interface PaidOperation<R extends z.ZodType> extends Pick<Route, 'name' | 'summary' | 'description'> {
  offering: Offering & { resource: PaidResource };
  reply: R;
  /** Makes what is sold, once a payment was found good; nobody has paid yet. */
  answer(horizonDays: number): Promise<PreparedAnswer>;
}

/** An operation that answers for a payment: what it says is made and sold between the proof and the settlement, and knows of neither. */
export function paidRoute<R extends z.ZodType>(
  { commerce, publicUrl }: Pick<HttpParts, 'commerce' | 'publicUrl'>,
  { offering, reply, answer, ...declared }: PaidOperation<R>,
): Route {
  const { sales } = commerce;
  return route({
    ...declared,
    path: offering.resource.path,
    tag: 'signal',
    access: 'paid',
    offering,
    query: PAID_QUERY,
    reply,
    errors: ['CONFLICT', 'STEP_WAITING', 'CHAIN_UNREACHABLE', 'TRANSACTION_UNCONFIRMED'],
    async handle({ query, asker, header, isHead }) {
      const resource = resourceOf(offering, publicUrl, query.horizon);
      const terms = sales.terms({ offering, resource });
      // Whoever only asks for headers is charged for nothing.
      const proof = isHead ? null : readProof(header, terms);
      const call: PaidCall = {
        ...{ offering, resource },
        input: { horizon: horizonName(query.horizon) },
        payment: proof?.payment ?? null,
        ref: query.ref ?? null,
        address: asker.address,
        requireRoom: (payer) => asker.requirePaymentRoom(payer),
        countRejection: (payer) => asker.countRejectedPayment(payer),
        answer: () => answer(query.horizon),
      };
      return soldReply(await sales.sell(call), terms, proof) as Reply<R extends z.ZodType ? z.input<R> : never>;
    },
  });
}

/** What is paid for, in the one spelling that terms and receipts have. */
function resourceOf({ resource: { path, describe } }: PaidOperation<z.ZodType>['offering'], publicUrl: string, horizonDays: number) {
  const url = `${urlAt(publicUrl, path)}?horizon=${horizonName(horizonDays)}`;
  return { url, description: describe(horizonDays), mimeType: 'application/json' };
}

function soldReply(sold: Sold, terms: Terms, proof: Proof | null): Reply {
  const { body, payment } = sold;
  if (payment === null) return { body: { ...body, payment: null, receipt: null } };
  const settlement = (network: string) => settlementResponse(payment, network);
  return { headers: settlementHeaders(settlement, terms, proof?.headers ?? []), body: soldBody(sold) };
}

/** An answer as it was sold, with how it was paid for and the receipt. */
export function soldBody({ body, payment, receipt }: Sold): Record<string, unknown> & SoldWith {
  return { ...body, ...toldPurchase({ payment: payment!, receipt: receipt! }) };
}

type SoldWith = { [Name in keyof typeof SOLD]: z.input<(typeof SOLD)[Name]> };
