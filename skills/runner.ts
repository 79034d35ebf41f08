import type { Asker } from '../src/access/asker.ts';
import { requireTier } from '../src/access/tiers.ts';
import { orPay } from '../src/commerce/how-to-pay.ts';
import { OracleError } from '../src/errors.ts';
import { parseInput } from '../src/parse-input.ts';
import type { Caller } from '../src/record/caller.ts';
import { SKILLS } from './index.ts';
import type { SkillParts } from './parts.ts';
import type { Skill } from './skill.ts';

/** A call that may be carried out: the skill is there, the caller may use it, and its input is good. */
export interface SkillCall {
  skill: Skill;
  /** As the skill parses it. */
  input: Record<string, unknown>;
}

export interface SkillAnswer {
  /** As the skill's `output` declares it. */
  output: Record<string, unknown>;
  /** The same in plain sentences. */
  text: string;
}

/** @throws OracleError INPUT_INVALID naming `skill` */
export function findSkill(id: unknown): Skill {
  const skill = SKILLS.find((one) => one.id === id);
  if (skill !== undefined) return skill;
  throw new OracleError('INPUT_INVALID', 'There is no skill of that name', {
    field: 'skill',
    suggestedAction: `Name one of ${SKILLS.map((one) => one.id).join(', ')}.`,
  });
}

/**
 * Looks at a call without carrying it out. A caller who pays for this very call needs no tier, where single answers are sold.
 * @throws OracleError INPUT_INVALID naming `skill` or the field of the input, UNAUTHENTICATED, TIER_REQUIRED
 */
export function prepareCall(id: unknown, input: unknown, caller: Caller): SkillCall {
  const skill = findSkill(id);
  const isPaidFor = caller.paid === true && skill.offering !== null;
  if (skill.tier !== 'public' && !isPaidFor) requireTier(caller, skill.tier, orPay(skill.offering));
  return { skill, input: parseInput(skill.input, input ?? {}, { what: 'input', whole: 'input' }) };
}

/** Carries out what was prepared. @throws OracleError RATE_LIMITED, and what the skill throws */
export type CarryOut = (call: SkillCall, asker: Asker) => Promise<SkillAnswer>;

export function createCarryOut(parts: SkillParts): CarryOut {
  return async ({ skill, input }, asker) => {
    if (skill.cost === 'rpc') await asker.countChainCall();
    const output = await skill.run(input, { parts, caller: asker.caller });
    return { output, text: skill.tell(output) };
  };
}
