import type { SkillParts } from '../../skills/parts.ts';
import { createCarryOut, prepareCall, type SkillAnswer } from '../../skills/runner.ts';
import type { HttpParts } from '../../src/http/parts.ts';
import { type Caller, PUBLIC_CALLER } from '../../src/record/caller.ts';
import { askerOf } from './serve.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
export type TestedAnswer = SkillAnswer & { output: any };

/** One call of a skill as a caller, without a socket. */
export type RunSkill = (id: string, input?: Record<string, unknown>, caller?: Caller) => Promise<TestedAnswer>;

export const BASIC: Caller = { tier: 'basic', wallet: `0x${'b'.repeat(40)}` };
export const PREMIUM: Caller = { tier: 'premium', wallet: `0x${'a'.repeat(40)}` };

/** What the skills of a service are made of, some of it changed. */
export function skillParts(parts: HttpParts, changes: Partial<SkillParts> = {}): SkillParts {
  return { ...parts, ...changes };
}

/** The skills of parts. */
export function skillRunner(parts: SkillParts): RunSkill {
  const carryOut = createCarryOut(parts);
  return async (id, input = {}, caller = PUBLIC_CALLER) => carryOut(prepareCall(id, input, caller), askerOf(caller));
}
