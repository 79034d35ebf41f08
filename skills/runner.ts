import type { Caller } from '../src/auth/caller.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import { requireTier } from '../src/auth/tiers/tiers.ts';
import { formatSingleAnswerHint } from '../src/commerce/payment-instructions.ts';
import { OracleError } from '../src/platform/errors.ts';
import { inSpan } from '../src/platform/tracing/span.ts';
import { parseInput } from '../src/platform/validation/parse-input.ts';
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
