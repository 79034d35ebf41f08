import { SKILLS } from '../../skills/index.ts';
import { toSkillJsonSchema } from '../../skills/json-schema.ts';
import { formatPrice, type Skill } from '../../skills/skill.ts';
import { formatAmount } from '../../src/commerce/money.ts';
import { getOfferingId, type Offering } from '../../src/commerce/offerings.ts';

/** Of what is bought instead of holding the tier. */
interface SingleAnswer {
  /** As the list of offerings names it: channel and name. */
  offering: string;
  /** Exact decimal number. */
  amount: string;
  asset: string;
}

/** Everything it takes to call a skill by program, and to decide whether to. */
export interface SkillContract {
  id: string;
  tier: Skill['tier'];
  price: { description: string; singleAnswer: SingleAnswer | null };
  freshness: Skill['freshness'];
  /** Inputs, one for each example of the skill. */
  examples: readonly Record<string, unknown>[];
  /** JSON Schemas; fields may be added to the output. */
  input: Record<string, unknown>;
  output: Record<string, unknown>;
}

/** Dialect of the schemas. */
export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function buildSkillContracts(): SkillContract[] {
  return SKILLS.map((skill) => ({
    id: skill.id,
    tier: skill.tier,
    price: { description: formatPrice(skill), singleAnswer: skill.offering === null ? null : toSingleAnswer(skill.offering) },
    freshness: { ...skill.freshness },
    examples: skill.examples.map(({ input }) => input),
    // As it is sent: what has a default may be left out.
    input: toSkillJsonSchema(skill.input, 'input'),
    output: toSkillJsonSchema(skill.output, 'input'),
  }));
}

function toSingleAnswer(offering: Offering): SingleAnswer {
  const { price } = offering;
  return { offering: getOfferingId(offering), amount: formatAmount(price), asset: price.asset };
}
