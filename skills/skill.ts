import type { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import type { PaidTier } from '../src/auth/tiers/tiers.ts';
import { formatMoney } from '../src/commerce/money.ts';
import type { Offering } from '../src/commerce/offerings.ts';
import type { ErrorCode } from '../src/platform/errors.ts';
import type { SkillDeps } from './deps.ts';

/** What a skill works with besides its input. */
export interface SkillContext {
  deps: SkillDeps;
  caller: Caller;
}

export interface SkillExample {
  /** How a person would ask for it. */
  say: string;
  /** What an agent sends for that. */
  input: Record<string, unknown>;
}

/** Something the service does for whoever asks, the same behind every door. */
export interface Skill {
  /** As agents name it (interface, section 4.5). */
  id: string;
  /** A few words for people. */
  title: string;
  /** One sentence without a full stop. */
  summary: string;
  /** For whoever decides whether to call it: what comes back, what it is worth, what it is not. Constant text. */
  description: string;
  tags: readonly string[];
  examples: readonly [SkillExample, ...SkillExample[]];
  /** Every field described; unknown ones are refused. */
  input: z.ZodObject;
  /** Every field described with its unit; no transforms, no `.meta({ id })`. */
  output: z.ZodObject;
  /** The least tier that may call it. */
  tier: 'public' | PaidTier;
  /** What buys a single answer without the tier; null where it is free for everybody. */
  offering: Offering | null;
  /** How long an answer stays what it is. */
  freshness: { description: string; seconds: number };
  /** `rpc` where it makes us ask the chain. */
  cost: 'normal' | 'rpc';
  /** What it may fail with besides bad input, a missing tier and a reached limit. */
  errors: readonly ErrorCode[];
  /** @param input as `input` parses it */
  run(input: Record<string, unknown>, context: SkillContext): Promise<Record<string, unknown>>;
  /** The answer in plain sentences. */
  formatText(output: Record<string, unknown>): string;
}

/** Declares a skill; `run` and `tell` are typed by its schemas. */
export function defineSkill<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Omit<Skill, 'input' | 'output' | 'run' | 'formatText'> & {
    input: Input;
    output: Output;
    run(input: z.output<Input>, context: SkillContext): Promise<z.input<Output>>;
    formatText(output: z.input<Output>): string;
  },
): Skill {
  return definition as unknown as Skill;
}

/** Price of one answer in words: `free`, or what it costs without the tier that includes it. */
export function formatPrice({ tier, offering }: Pick<Skill, 'tier' | 'offering'>): string {
  if (tier === 'public') return 'free';
  const included = `included in the ${tier} tier`;
  if (offering === null) return included;
  return `${included}; ${formatMoney(offering.price)} for a single answer, paid by x402 at ${offering.resource?.path ?? '/'}, over MCP or A2A`;
}
