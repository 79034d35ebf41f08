import type { Hash } from 'viem';
import type { Caller } from '../src/auth/caller.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import { isTierAtLeast } from '../src/auth/tiers/tiers.ts';
import { parseRefCode } from '../src/commerce/ledger/ref-code.ts';
import type { Offering } from '../src/commerce/price-list.ts';
import type { X402Receipt } from '../src/commerce/receipts/offer-receipt.ts';
import type { SignedReceipt } from '../src/commerce/receipts/receipt.ts';
import type { PreparedAnswer, X402Payment } from '../src/commerce/x402/paid-call.ts';
import type { BazaarDeclaration } from '../src/commerce/x402/protocol/bazaar.ts';
import type { PaymentQuote } from '../src/commerce/x402/protocol/payment-quote.ts';
import type { SalesService } from '../src/commerce/x402/sales-service.ts';
import { OracleError } from '../src/platform/errors.ts';
import type { RunSkill, SkillAnswer, SkillCall } from './runner.ts';
import type { Skill } from './skill.ts';

/** A payer of a single answer sees that answer and no other gated value. */
export const PAYING_CALLER: Caller = { tier: 'public', paid: true };

export interface SoldAnswer extends SkillAnswer {
  payment: X402Payment;
  receipt: SignedReceipt;
  x402Receipt: X402Receipt | null;
}

/** Given away: the payment was valid, and was not used. */
export interface FreeAnswer extends SkillAnswer {
  payment: null;
  receipt: null;
}

export interface PaidSkillCall {
  /** Prepared with `PAYING_CALLER`. */
  call: SkillCall;
  /** Path of the call, which the receipt names with the skill. */
  endpoint: string;
  /** Listing of the skill over this transport; unset where facilitators list none. */
  bazaar?: BazaarDeclaration;
  payment: unknown;
  /** Referral code, as sent. */
  ref: unknown;
  context: RequestContext;
  /** Rate limit key. The answer is repeated for the same payment and owner. */
  owner: string;
  /** Called when the payment is verified, before the skill runs; not for a repeated payment. */
  onVerified?(): void;
}

/** Sale of single answers with the call, over every transport of the skills. */
export interface PaidCalls {
  quote(skill: Skill, endpoint: string, bazaar?: BazaarDeclaration): PaymentQuote;
  /** For a call without a payment: as `SalesService.getSignedQuote`. */
  signedQuote(skill: Skill, endpoint: string, bazaar?: BazaarDeclaration): Promise<PaymentQuote>;
  /** @throws OracleError INPUT_INVALID naming `ref`, errors of the skill, and those of `SalesService.sell` */
  sell(call: PaidSkillCall): Promise<SoldAnswer>;
  /** As `sell`, but delivers what the skill gives away (`Skill.free`) without a charge. */
  sellUnlessFree(call: PaidSkillCall): Promise<SoldAnswer | FreeAnswer>;
}

/** Whether the caller's tier excludes the skill, and single answers are sold. */
export function isForSale({ tier, offering }: Skill, caller: Caller): boolean {
  return offering !== null && tier !== 'public' && !isTierAtLeast(caller.tier, tier);
}

export interface PaidCallsDeps {
  sales: SalesService;
  runSkill: RunSkill;
  toUrl(path: string): string;
}

export function createPaidCalls({ sales, runSkill, toUrl }: PaidCallsDeps): PaidCalls {
  const toSale = (skill: Skill, endpoint: string) => ({ offering: requireOffering(skill), resource: toResource(skill, toUrl(endpoint)) });
  async function sellAny(paid: PaidSkillCall, givesFree: boolean): Promise<SoldAnswer | FreeAnswer> {
    const { call, endpoint, bazaar, payment, ref, context, owner, onVerified } = paid;
    const { skill, input } = call;
    if (payment !== null && payment !== undefined) context.beginPayment();
    const sold = await sales.sell({
      ...toSale(skill, endpoint),
      bazaar,
      // The fingerprint has no transport, so a payer can repeat the call over another one.
      input: { skill: skill.id, input },
      payment,
      ref: parseRef(ref),
      address: owner,
      requireRejectionAllowance: (payer) => context.requirePaymentRoom(payer),
      hasRejectionAllowance: (payer) => context.hasPaymentRoom(payer),
      countRejection: (payer) => context.countRejectedPayment(payer),
      async answer() {
        onVerified?.();
        return toPreparedAnswer(await runSkill(call, { ...context, caller: PAYING_CALLER }), givesFree ? skill.free : undefined);
      },
    });
    const { body, receipt, x402Receipt, payment: settled } = sold;
    if (settled === null || receipt === null) return { output: body, text: skill.free!.text, payment: null, receipt: null };
    return { output: body, text: skill.formatText(body), payment: settled, receipt, x402Receipt };
  }

  return {
    quote: (skill, endpoint, bazaar) => sales.getQuote({ ...toSale(skill, endpoint), bazaar }),
    signedQuote: (skill, endpoint, bazaar) => sales.getSignedQuote({ ...toSale(skill, endpoint), bazaar }),
    async sell(call) {
      const sold = await sellAny(call, false);
      if (sold.payment === null) throw new OracleError('INTERNAL', 'An answer of a skill was given away');
      return sold;
    },
    sellUnlessFree: (call) => sellAny(call, true),
  };
}

function requireOffering({ id, offering }: Skill): Offering {
  if (offering === null) throw new OracleError('INTERNAL', `Single answers of ${id} are not sold`);
  return offering;
}

/** The endpoint of a transport is shared by all skills; that of a REST skill names it already. */
function toResource({ id, summary }: Skill, url: string) {
  return { url: url.endsWith(`/${id}`) ? url : `${url}#${id}`, description: summary, mimeType: 'application/json' };
}

function parseRef(ref: unknown): string | null {
  if (ref === undefined || ref === null) return null;
  return parseRefCode(typeof ref === 'string' ? ref : '');
}

/** The receipt contains the hash of the output. */
function toPreparedAnswer({ output }: SkillAnswer, free: Skill['free']): PreparedAnswer {
  const { predictionId, attestationUid } = output as { predictionId?: string; attestationUid?: Hash | null };
  const freeBody = free?.from(output) ?? undefined;
  return { body: output, forecastId: predictionId ?? null, attestationUid: attestationUid ?? null, ...(freeBody && { freeBody }) };
}
