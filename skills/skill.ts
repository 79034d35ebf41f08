import type { z } from 'zod';
import type { Caller } from '../src/auth/caller.ts';
import type { PaidTier } from '../src/auth/tiers/tiers.ts';
import { formatMoney } from '../src/commerce/money.ts';
import type { Offering } from '../src/commerce/price-list.ts';
import type { Market } from '../src/market/market.ts';
import type { ErrorCode } from '../src/platform/errors.ts';
import type { OracleDeps } from '../src/record/oracle/deps.ts';
import type { RecordCheckDeps } from '../src/record/verification/forecast-evidence.ts';
import type { Outline } from './outlines/outline.ts';
import type { PublicPart } from './outlines/public-part.ts';

export interface SkillDeps extends OracleDeps, RecordCheckDeps {
  market: Market;
}

export interface SkillContext {
  deps: SkillDeps;
  caller: Caller;
}

export interface SkillExample {
  say: string;
  input: Record<string, unknown>;
}

export interface FreeOutput {
  schema: z.ZodObject;
  /** Null for an output that is charged. */
  from(output: Record<string, unknown>): Record<string, unknown> | null;
  text: string;
}

export interface Skill {
  /** Name on the wire (interface, section 4.5). */
  id: string;
  title: string;
  /** One sentence without a full stop. */
  summary: string;
  /** Constant text for agents: what the skill returns, how reliable it is, and its limits. */
  description: string;
  tags: readonly string[];
  examples: readonly [SkillExample, ...SkillExample[]];
  /** Every field has a description; unknown fields are rejected. */
  input: z.ZodObject;
  /** Every field has a description with its unit; no transforms, no `.meta({ id })`. */
  output: z.ZodObject;
  /** What a short answer keeps of `output`. */
  outline: Outline;
  tier: 'public' | PaidTier;
  /** What a caller below the tier gets where a transport answers instead of rejecting the call; unset: it is rejected everywhere. */
  publicPart?: PublicPart;
  offering: Offering | null;
  /** What a payer gets without a charge in place of some outputs, where the operator gives it away; unset: every answer is charged. */
  free?: FreeOutput;
  /** How long an answer stays valid. */
  freshness: { description: string; seconds: number };
  /** `rpc` for skills that read the chain, which are metered separately. */
  cost: 'normal' | 'rpc';
  /** Codes besides INPUT_INVALID, tier errors and RATE_LIMITED. */
  errors: readonly ErrorCode[];
  /** @param input output of the `input` schema */
  run(input: Record<string, unknown>, context: SkillContext): Promise<Record<string, unknown>>;
  /** The verdict, in at most 120 words: what is known, how surely, and what not to rely on. */
  formatText(output: Record<string, unknown>): string;
  /** Further lines of a short answer, such as the rows of a list; null for none. */
  formatRows?(output: Record<string, unknown>): string | null;
}

/** Declares a skill; its schemas type `run` and `formatText`. */
export function defineSkill<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Omit<Skill, 'input' | 'output' | 'run' | 'formatText' | 'formatRows' | 'free'> & {
    input: Input;
    output: Output;
    run(input: z.output<Input>, context: SkillContext): Promise<z.input<Output>>;
    formatText(output: z.input<Output>): string;
    formatRows?(output: z.input<Output>): string | null;
    free?: Omit<FreeOutput, 'from'> & { from(output: z.input<Output>): Record<string, unknown> | null };
  },
): Skill {
  return definition as unknown as Skill;
}

/** `free`, or the tier and the price of a single answer. */
export function formatPrice({ tier, offering }: Pick<Skill, 'tier' | 'offering'>): string {
  if (tier === 'public') return 'free';
  const included = `included in the ${tier} tier`;
  if (offering === null) return included;
  return `${included}; ${formatMoney(offering.price)} for a single answer, paid by x402 with the call over REST, MCP or A2A, or at ${offering.resource?.path ?? '/'}`;
}
