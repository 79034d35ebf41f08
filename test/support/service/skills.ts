import { createSkillRunner, prepareCall, type SkillAnswer } from '../../../skills/runner.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { Context } from '../../../src/context.ts';
import type { Services } from '../../../src/http/services.ts';
import { createTestContext } from '../http/serve.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
export type TestedAnswer = SkillAnswer & { output: any };

/** One call of a skill as a caller, without a socket. */
export type RunSkillById = (id: string, input?: Record<string, unknown>, caller?: Caller) => Promise<TestedAnswer>;

export const BASIC: Caller = { tier: 'basic', wallet: `0x${'b'.repeat(40)}` };
export const PREMIUM: Caller = { tier: 'premium', wallet: `0x${'a'.repeat(40)}` };

/** What the skills of a service are made of, some of it changed. */
export function buildSkillDeps(parts: Services, changes: Partial<Context> = {}): Context {
  return { ...parts, ...changes };
}

/** The skills of parts. */
export function createTestRunner(parts: Context): RunSkillById {
  const runSkill = createSkillRunner(parts);
  return async (id, input = {}, caller = PUBLIC_CALLER) => runSkill(prepareCall(id, input, caller), createTestContext(caller));
}
