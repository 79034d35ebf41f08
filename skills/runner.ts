import type { Hash } from 'viem';
import type { RequestContext } from '../src/auth/auth.ts';
import type { Caller } from '../src/auth/caller.ts';
import { isTierAtLeast, requireTier } from '../src/auth/tiers.ts';
import { parseRefCode } from '../src/commerce/ledger.ts';
import { formatSingleAnswerHint } from '../src/commerce/payment-instructions.ts';
import type { SignedReceipt, X402Receipt } from '../src/commerce/receipts.ts';
import type { PaymentInterface } from '../src/commerce/x402/claims.ts';
import type { SalesService, X402Payment } from '../src/commerce/x402/sales.ts';
import type { BazaarDeclaration } from '../src/commerce/x402/terms.ts';
import { OracleError } from '../src/errors.ts';
import { inSpan } from '../src/platform/tracing.ts';
import { parseInput } from '../src/platform/validation.ts';
import { SKILLS } from './index.ts';
import type { Skill, SkillDeps } from './skill.ts';

export interface SkillCall {
  skill: Skill;
  input: Record<string, unknown>;
}

export interface SkillAnswer {
  output: Record<string, unknown>;
  text: string;
}

/** @throws OracleError INPUT_INVALID naming `skill` */
export function findSkill(id: unknown): Skill {
  const skill = SKILLS.find((one) => one.id === id);
  if (skill !== undefined) return skill;
  const suggestedAction = `Name one of ${SKILLS.map((one) => one.id).join(', ')}.`;
  throw new OracleError('INPUT_INVALID', 'Unknown skill', { field: 'skill', suggestedAction });
}

/** A paying caller needs no tier if single answers are sold. @throws OracleError INPUT_INVALID, UNAUTHENTICATED, TIER_REQUIRED */
export function prepareCall(id: unknown, input: unknown, caller: Caller): SkillCall {
  const skill = findSkill(id);
  const isPaidFor = caller.paid === true && skill.offering !== null;
  if (skill.tier !== 'public' && !isPaidFor) requireTier(caller, skill.tier, formatSingleAnswerHint(skill.offering));
  return { skill, input: parseInput(skill.input, input ?? {}, { kind: 'input', root: 'input' }) };
}

/** @throws OracleError RATE_LIMITED, and errors of the skill */
export type RunSkill = (call: SkillCall, context: RequestContext) => Promise<SkillAnswer>;

export function createSkillRunner(deps: SkillDeps): RunSkill {
  return async ({ skill, input }, context) => {
    if (skill.cost === 'rpc') await context.countChainCall();
    const output = await inSpan({ name: `skill ${skill.id}` }, async () => skill.run(input, { deps, caller: context.caller }));
    return { output, text: skill.formatText(output) };
  };
}

/** A payer of a single answer sees that answer and no other gated value. */
export const PAYING_CALLER: Caller = { tier: 'public', paid: true };

export interface SoldAnswer extends SkillAnswer {
  payment: X402Payment;
  receipt: SignedReceipt;
  x402Receipt: X402Receipt | null;
}

interface PaidSkillCall {
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

/** Whether the caller's tier excludes the skill, and single answers are sold. */
export function isForSale({ tier, offering }: Skill, caller: Caller): boolean {
  return offering !== null && tier !== 'public' && !isTierAtLeast(caller.tier, tier);
}

/** Sale of single answers with the call, over every transport of the skills. */
export type PaidCalls = ReturnType<typeof createPaidCalls>;

interface PaidCallsDeps {
  sales: SalesService;
  runSkill: RunSkill;
  toUrl(path: string): string;
  /** Transport of the calls, for counts. Default: `rest`. */
  over?: PaymentInterface;
}

export function createPaidCalls({ sales, runSkill, toUrl, over }: PaidCallsDeps) {
  const toSale = ({ id, summary, offering }: Skill, endpoint: string) => {
    if (offering === null) throw new OracleError('INTERNAL', `Single answers of ${id} are not sold`);
    // The endpoint of a transport is shared by all skills; that of a REST skill names it already.
    const url = toUrl(endpoint);
    const resource = { url: url.endsWith(`/${id}`) ? url : `${url}#${id}`, description: summary, mimeType: 'application/json' };
    return { over, offering, resource };
  };
  /** @throws OracleError INPUT_INVALID naming `ref`, errors of the skill, and those of `SalesService.sell` */
  async function sell({ call, endpoint, bazaar, payment, ref, context, owner, onVerified }: PaidSkillCall): Promise<SoldAnswer> {
    const { skill, input } = call;
    if (payment !== null && payment !== undefined) context.beginPayment();
    const { body, ...sold } = await sales.sell({
      ...toSale(skill, endpoint),
      bazaar,
      // The fingerprint has no transport, so a payer can repeat the call over another one.
      input: { skill: skill.id, input },
      payment,
      ref: ref === undefined || ref === null ? null : parseRefCode(typeof ref === 'string' ? ref : ''),
      address: owner,
      requireRejectionAllowance: (payer) => context.requirePaymentRoom(payer),
      hasRejectionAllowance: (payer) => context.hasPaymentRoom(payer),
      countRejection: (payer) => context.countRejectedPayment(payer),
      async answer() {
        onVerified?.();
        // The receipt contains the hash of the output.
        const { output } = await runSkill(call, { ...context, caller: PAYING_CALLER });
        const { predictionId = null, attestationUid = null } = output as { predictionId?: string; attestationUid?: Hash | null };
        return { body: output, forecastId: predictionId, attestationUid };
      },
    });
    return { output: body, text: skill.formatText(body), payment: sold.payment, receipt: sold.receipt, x402Receipt: sold.x402Receipt };
  }

  return {
    quote: (skill: Skill, endpoint: string, bazaar?: BazaarDeclaration) => sales.getQuote({ ...toSale(skill, endpoint), bazaar }),
    /** For a call without a payment: as `SalesService.getSignedQuote`. */
    signedQuote: (skill: Skill, endpoint: string, bazaar?: BazaarDeclaration) =>
      sales.getSignedQuote({ ...toSale(skill, endpoint), bazaar }),
    sell,
  };
}
