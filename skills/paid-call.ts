import type { Hash } from 'viem';
import type { Asker } from '../src/access/asker.ts';
import { isAtLeast } from '../src/access/tiers.ts';
import type { Offering } from '../src/commerce/offerings.ts';
import type { SignedReceipt } from '../src/commerce/receipt.ts';
import { parseRefCode } from '../src/commerce/ref-code.ts';
import type { PaidFor, PreparedAnswer } from '../src/commerce/x402/paid-call.ts';
import type { Sales } from '../src/commerce/x402/sale.ts';
import type { Terms } from '../src/commerce/x402/terms.ts';
import { OracleError } from '../src/errors.ts';
import type { Caller } from '../src/record/caller.ts';
import type { CarryOut, SkillAnswer, SkillCall } from './runner.ts';
import type { Skill } from './skill.ts';

/** Whoever pays for a single answer sees it, and nothing else. */
export const PAYING: Caller = { tier: 'public', paid: true };

/** An answer with how it was paid for. */
export interface SoldAnswer extends SkillAnswer {
  payment: PaidFor;
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
  asker: Asker;
  /** To whom the answer is given again for the same payment. */
  owner: string;
  /** Told once the payment is good and the answer is being made; not of one that was paid for before. */
  onVerified?(): void;
}

/** Single answers of the skills, for whoever pays for them with the call: the same for every door that has no operation of its own for it. */
export interface PaidCalls {
  /** @param endpoint path that the call comes in at */
  terms(skill: Skill, endpoint: string): Terms;
  /** @throws OracleError INPUT_INVALID naming `ref`, what the skill throws, and as `Sales.sell` */
  sell(call: PaidSkillCall): Promise<SoldAnswer>;
}

/** Whether single answers of a skill are sold to this caller, whose tier does not include them. */
export function isForSale({ tier, offering }: Skill, caller: Caller): boolean {
  return offering !== null && tier !== 'public' && !isAtLeast(caller.tier, tier);
}

export interface PaidCallsParts {
  sales: Sales;
  carryOut: CarryOut;
  /** Makes a path of the service a URL. */
  at(path: string): string;
}

export function createPaidCalls({ sales, carryOut, at }: PaidCallsParts): PaidCalls {
  const soldAt = (skill: Skill, endpoint: string) => ({ offering: offeringOf(skill), resource: resourceOf(skill, at(endpoint)) });
  return {
    terms: (skill, endpoint) => sales.terms(soldAt(skill, endpoint)),
    async sell({ call, endpoint, payment, ref, asker, owner, onVerified }) {
      const { skill, input } = call;
      const sold = await sales.sell({
        ...soldAt(skill, endpoint),
        // Whoever paid is given the same again by any of the doors, which answer alike.
        input: { skill: skill.id, input },
        payment,
        ref: refOf(ref),
        address: owner,
        requireRoom: (payer) => asker.requirePaymentRoom(payer),
        countRejection: (payer) => asker.countRejectedPayment(payer),
        async answer() {
          onVerified?.();
          return preparedOf(await carryOut(call, { ...asker, caller: PAYING }));
        },
      });
      const { body, receipt, payment: paidFor } = sold;
      if (paidFor === null || receipt === null) throw new OracleError('INTERNAL', 'An answer of a skill was given away');
      return { output: body, text: skill.tell(body), payment: paidFor, receipt };
    },
  };
}

function offeringOf({ id, offering }: Skill): Offering {
  if (offering === null) throw new OracleError('INTERNAL', `Single answers of ${id} are not sold`);
  return offering;
}

function resourceOf({ id, summary }: Skill, url: string) {
  return { url: `${url}#${id}`, description: summary, mimeType: 'application/json' };
}

function refOf(ref: unknown): string | null {
  if (ref === undefined || ref === null) return null;
  return parseRefCode(typeof ref === 'string' ? ref : '');
}

/** The output itself is what is sold: its hash is in the receipt. */
function preparedOf({ output }: SkillAnswer): PreparedAnswer {
  const { predictionId, attestationUid } = output as { predictionId?: string; attestationUid?: Hash | null };
  return { body: output, forecastId: predictionId ?? null, attestationUid: attestationUid ?? null };
}
