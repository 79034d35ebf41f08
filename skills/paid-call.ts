import type { Hash } from 'viem';
import type { Caller } from '../src/auth/caller.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import { isTierAtLeast } from '../src/auth/tiers/tiers.ts';
import { parseRefCode } from '../src/commerce/ledger/ref-code.ts';
import type { Offering } from '../src/commerce/offerings.ts';
import type { SignedReceipt } from '../src/commerce/receipts/receipt.ts';
import type { PreparedAnswer, X402Payment } from '../src/commerce/x402/paid-call.ts';
import type { PaymentQuote } from '../src/commerce/x402/protocol/payment-quote.ts';
import type { SalesService } from '../src/commerce/x402/sales-service.ts';
import { OracleError } from '../src/platform/errors.ts';
import type { RunSkill, SkillAnswer, SkillCall } from './runner.ts';
import type { Skill } from './skill.ts';

/** Whoever pays for a single answer sees it, and nothing else. */
export const PAYING_CALLER: Caller = { tier: 'public', paid: true };

/** An answer with how it was paid for. */
export interface SoldAnswer extends SkillAnswer {
  payment: X402Payment;
  receipt: SignedReceipt;
}

/** A call with the payment for it. */
export interface PaidSkillCall {
  /** As it was prepared for `PAYING`. */
  call: SkillCall;
  /** Path that the call came in at; the receipt names it with the skill. */
  endpoint: string;
  /** As the client sent it, decoded. */
  payment: unknown;
  /** Code of the partner who sent the payer, as the client sent it; undefined: nobody. */
  ref: unknown;
  context: RequestContext;
  /** To whom the answer is given again for the same payment. */
  owner: string;
  /** Told once the payment is good and the answer is being made; not of one that was paid for before. */
  onVerified?(): void;
}

/** Single answers of the skills, for whoever pays for them with the call: the same for every door that has no operation of its own for it. */
export interface PaidCalls {
  /** @param endpoint path that the call comes in at */
  quote(skill: Skill, endpoint: string): PaymentQuote;
  /** @throws OracleError INPUT_INVALID naming `ref`, what the skill throws, and as `Sales.sell` */
  sell(call: PaidSkillCall): Promise<SoldAnswer>;
}

/** Whether single answers of a skill are sold to this caller, whose tier does not include them. */
export function isForSale({ tier, offering }: Skill, caller: Caller): boolean {
  return offering !== null && tier !== 'public' && !isTierAtLeast(caller.tier, tier);
}

export interface PaidCallsDeps {
  sales: SalesService;
  runSkill: RunSkill;
  /** Makes a path of the service a URL. */
  toUrl(path: string): string;
}

export function createPaidCalls({ sales, runSkill, toUrl: at }: PaidCallsDeps): PaidCalls {
  const toSale = (skill: Skill, endpoint: string) => ({ offering: requireOffering(skill), resource: toResource(skill, at(endpoint)) });
  return {
    quote: (skill, endpoint) => sales.getQuote(toSale(skill, endpoint)),
    async sell({ call, endpoint, payment, ref, context, owner, onVerified }) {
      const { skill, input } = call;
      const sold = await sales.sell({
        ...toSale(skill, endpoint),
        // Whoever paid is given the same again by any of the doors, which answer alike.
        input: { skill: skill.id, input },
        payment,
        ref: parseRef(ref),
        address: owner,
        requireRejectionAllowance: (payer) => context.requirePaymentRoom(payer),
        countRejection: (payer) => context.countRejectedPayment(payer),
        async answer() {
          onVerified?.();
          return toPreparedAnswer(await runSkill(call, { ...context, caller: PAYING_CALLER }));
        },
      });
      const { body, receipt, payment: paidFor } = sold;
      if (paidFor === null || receipt === null) throw new OracleError('INTERNAL', 'An answer of a skill was given away');
      return { output: body, text: skill.formatText(body), payment: paidFor, receipt };
    },
  };
}

function requireOffering({ id, offering }: Skill): Offering {
  if (offering === null) throw new OracleError('INTERNAL', `Single answers of ${id} are not sold`);
  return offering;
}

function toResource({ id, summary }: Skill, url: string) {
  return { url: `${url}#${id}`, description: summary, mimeType: 'application/json' };
}

function parseRef(ref: unknown): string | null {
  if (ref === undefined || ref === null) return null;
  return parseRefCode(typeof ref === 'string' ? ref : '');
}

/** The output itself is what is sold: its hash is in the receipt. */
function toPreparedAnswer({ output }: SkillAnswer): PreparedAnswer {
  const { predictionId, attestationUid } = output as { predictionId?: string; attestationUid?: Hash | null };
  return { body: output, forecastId: predictionId ?? null, attestationUid: attestationUid ?? null };
}
