import { PAYING_CALLER } from '../../../../../skills/paid-call.ts';
import { prepareCall } from '../../../../../skills/runner.ts';
import type { Skill } from '../../../../../skills/skill.ts';
import type { BazaarDeclaration } from '../../../../commerce/x402/protocol/bazaar.ts';
import { toSaleResponse } from '../../../../commerce/x402/protocol/settlement-response.ts';
import { buildSoldHeaders } from '../../commerce/x402/paid-route.ts';
import type { HttpDeps } from '../../deps.ts';
import { readPaymentProof } from '../../server/payments/payment-proof.ts';
import type { Reply, RouteInput } from '../../server/route.ts';
import type { SkillReply } from './schemas.ts';

export const SOLD_DESCRIPTION =
  'Without a token it is sold as a single answer: 402 with the terms, as any paid operation. `charged`, `payment` and `receipt` are added to a paid answer; the receipt has the hash of `output`. The same payment from the same address, or with its payment-identifier, gets the same answer over any interface and is never charged twice.';

type SellDeps = Pick<HttpDeps, 'paidCalls' | 'commerce'>;

interface SkillRequest
  extends Pick<RouteInput<unknown, { ref?: string | undefined }, Record<string, unknown>>, 'body' | 'query' | 'context' | 'header'> {
  skill: Skill;
  /** Path of the operation. */
  endpoint: string;
  bazaar: BazaarDeclaration | undefined;
}

/** @throws PaymentRequiredError without a payment, and for a rejected one; OracleError as `SalesService.sell` */
export async function sellSkillAnswer({ paidCalls, commerce }: SellDeps, request: SkillRequest): Promise<Reply<SkillReply>> {
  const { skill, endpoint, bazaar, body: input, query, context, header } = request;
  const quote = paidCalls.quote(skill, endpoint, bazaar);
  const proof = readPaymentProof(header, quote);
  const call = prepareCall(skill.id, input, PAYING_CALLER);
  const sell = commerce.freeHold ? paidCalls.sellUnlessFree : paidCalls.sell;
  const sold = await sell({ call, endpoint, bazaar, payment: proof?.payment ?? null, ref: query.ref, context, owner: context.address });
  const { output, text } = sold;
  const answer = { success: true, skill: skill.id, output, text } as const;
  if (sold.payment === null) return { body: { ...answer, charged: false, payment: null, receipt: null } };
  const headers = buildSoldHeaders(sold, quote, proof);
  return { headers, body: { ...answer, charged: true, ...toSaleResponse(sold) } };
}
