import type { Hash } from 'viem';
import type { RequestContext } from '../src/auth/auth.ts';
import { type Caller, PAYING_CALLER } from '../src/auth/caller.ts';
import { formatTierRequirement, isTierAtLeast, requireTier } from '../src/auth/tiers.ts';
import { parseRefCode } from '../src/commerce/ledger.ts';
import { formatMoney, formatSingleAnswerHint, type Offering } from '../src/commerce/offerings.ts';
import type { SignedReceipt, X402Receipt } from '../src/commerce/receipts.ts';
import type { BazaarDeclaration } from '../src/commerce/x402/bazaar.ts';
import type { PaymentInterface } from '../src/commerce/x402/claims.ts';
import type { SalesService, X402Payment } from '../src/commerce/x402/sales.ts';
import type { ResourceInfo } from '../src/commerce/x402/terms.ts';
import type { Context } from '../src/context.ts';
import { OracleError } from '../src/errors.ts';
import { inSpan } from '../src/platform/tracing.ts';
import { isPlainObject, parseInput } from '../src/platform/validation.ts';
import { SKILLS } from './index.ts';
import type { PublicPart, Skill, SkillTerms } from './skill.ts';

export interface SkillCall extends SkillTerms {
  skill: Skill;
  input: Record<string, unknown>;
  /** Of the call in whose place this one reads the public part. */
  inPlaceOf?: SkillTerms;
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

/** What a call of this input costs; the input is not yet validated. */
export function getTerms({ tier, offering, termsOf }: Skill, input: unknown): SkillTerms {
  return termsOf !== undefined && isPlainObject(input) ? termsOf(input) : { tier, offering };
}

/** @throws OracleError INPUT_INVALID */
export function parseCall(skill: Skill, input: unknown): SkillCall {
  return { skill, ...getTerms(skill, input), input: parseInput(skill.input, input ?? {}, { kind: 'input', root: 'input' }) };
}

/** A paying caller needs no tier if single answers are sold. @throws OracleError INPUT_INVALID, UNAUTHENTICATED, TIER_REQUIRED */
export function prepareCall(id: unknown, input: unknown, caller: Caller): SkillCall {
  const skill = findSkill(id);
  const { tier, offering } = getTerms(skill, input);
  const isPaidFor = caller.paid === true && offering !== null;
  if (tier !== 'public' && !isPaidFor) requireTier(caller, tier, formatOffer(offering)?.hint);
  return parseCall(skill, input);
}

/** The price, e.g. `0.001 USD`, and a sentence on how to buy a single answer; null where none is sold. */
export function formatOffer(offering: Offering | null): { price: string; hint: string } | null {
  return offering && { price: formatMoney(offering.price), hint: formatSingleAnswerHint(offering) };
}

/** The call of the public part of an answer; null where there is none. @throws OracleError INPUT_INVALID */
export function preparePublicCall({ skill, input }: Pick<SkillCall, 'skill' | 'input'>): SkillCall | null {
  if (skill.publicPart === undefined) return null;
  return { ...parseCall(skill, { ...input, ...skill.publicPart.input }), inPlaceOf: getTerms(skill, input) };
}

/** The public part that the call asks for; null for a whole answer. */
export function getPublicPart({ skill: { publicPart }, input }: Pick<SkillCall, 'skill' | 'input'>): PublicPart | null {
  if (publicPart === undefined) return null;
  return Object.entries(publicPart.input).every(([name, value]) => input[name] === value) ? publicPart : null;
}

function formatText(call: SkillCall, output: Record<string, unknown>): string {
  const { skill, inPlaceOf = skill } = call;
  return getPublicPart(call)?.formatText(output, formatAccessWays(inPlaceOf, output)) ?? skill.formatText(output);
}

function formatAccessWays({ tier, offering }: SkillTerms, { resolvesAt }: Record<string, unknown>): string {
  const signIn = tier === 'public' ? '' : `sign in with a wallet that holds ${formatTierRequirement(tier)}`;
  const offer = formatOffer(offering);
  const pay = offer === null ? '' : `, pay ${offer.price} for this answer by x402`;
  return `${signIn}${pay}, or wait until ${String(resolvesAt).slice(0, 10)}`;
}

/** @throws OracleError RATE_LIMITED, and errors of the skill */
export type RunSkill = (call: SkillCall, context: RequestContext) => Promise<SkillAnswer>;

export function createSkillRunner(service: Context): RunSkill {
  return async (call, context) => {
    const { skill, input } = call;
    if (skill.cost === 'rpc') await context.countChainCall();
    const output = await inSpan({ name: `skill ${skill.id}` }, async () => skill.run(input, service, context.caller));
    return { output, text: formatText(call, output) };
  };
}

export interface SoldAnswer extends SkillAnswer {
  payment: X402Payment;
  receipt: SignedReceipt;
  x402Receipt: X402Receipt | null;
}

interface QuotedSkillCall {
  call: Pick<SkillCall, 'skill' | 'offering'>;
  /** Path of the call, which the receipt names with the skill. */
  endpoint: string;
  /** Of a resource of its own that shows the answer: what it is, and its form of the output. */
  as?: { resource: ResourceInfo; render(output: Record<string, unknown>): Record<string, unknown> };
  /** Listing of the skill over this transport; unset where facilitators list none. */
  bazaar?: BazaarDeclaration | undefined;
}

interface PaidSkillCall extends QuotedSkillCall {
  /** Prepared with `PAYING_CALLER`. */
  call: SkillCall;
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
export function isForSale({ tier, offering }: SkillTerms, caller: Caller): boolean {
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
  const toSale = ({ call, endpoint, as, bazaar }: QuotedSkillCall) => {
    const { skill, offering } = call;
    if (offering === null) throw new OracleError('INTERNAL', `Single answers of ${skill.id} are not sold`);
    // The endpoint of a transport is shared by all skills; that of a REST skill names it already.
    const url = toUrl(endpoint);
    const named = {
      url: url.endsWith(`/${skill.id}`) ? url : `${url}#${skill.id}`,
      description: skill.summary,
      mimeType: 'application/json',
    };
    return { over, offering, resource: as?.resource ?? named, bazaar };
  };
  /** @throws OracleError INPUT_INVALID naming `ref`, errors of the skill, and those of `SalesService.sell` */
  async function sell(paid: PaidSkillCall): Promise<SoldAnswer> {
    const { call, endpoint, as, payment, ref, context, owner, onVerified } = paid;
    const { skill, input } = call;
    if (payment !== null && payment !== undefined) context.beginPayment();
    const { body, ...sold } = await sales.sell({
      ...toSale(paid),
      // The fingerprint has no transport, so a payer can repeat the call over another one that answers in the same form.
      input: { skill: skill.id, input, ...(as && { at: endpoint }) },
      payment,
      ref: ref === undefined || ref === null ? null : parseRefCode(typeof ref === 'string' ? ref : ''),
      address: owner,
      requireRejectionAllowance: (payer) => context.requirePaymentRoom(payer),
      hasRejectionAllowance: (payer) => context.hasPaymentRoom(payer),
      countRejection: (payer) => context.countRejectedPayment(payer),
      async answer() {
        onVerified?.();
        // The receipt contains the hash of the output, or of its form.
        const { output } = await runSkill(call, { ...context, caller: PAYING_CALLER });
        const { predictionId = null, attestationUid = null } = output as { predictionId?: string; attestationUid?: Hash | null };
        return { body: as?.render(output) ?? output, forecastId: predictionId, attestationUid };
      },
    });
    const text = as === undefined ? formatText(call, body) : '';
    return { output: body, text, payment: sold.payment, receipt: sold.receipt, x402Receipt: sold.x402Receipt };
  }

  return {
    quote: (call: QuotedSkillCall) => sales.getQuote(toSale(call)),
    /** For a call without a payment: as `SalesService.getSignedQuote`. */
    signedQuote: (call: QuotedSkillCall) => sales.getSignedQuote(toSale(call)),
    sell,
  };
}
