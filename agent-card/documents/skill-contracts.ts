import { SKILLS } from '../../skills/index.ts';
import { toSkillJsonSchema } from '../../skills/json-schema.ts';
import { formatPrice, type Skill } from '../../skills/skill.ts';
import { formatAmount } from '../../src/commerce/money.ts';
import { getOfferingId, type Offering } from '../../src/commerce/price-list.ts';

interface SingleAnswer {
  offering: string;
  /** Decimal number. */
  amount: string;
  asset: string;
}

export interface SkillContract {
  id: string;
  tier: Skill['tier'];
  price: { description: string; singleAnswer: SingleAnswer | null };
  freshness: Skill['freshness'];
  examples: readonly Record<string, unknown>[];
  /** Output schemas may gain fields. */
  input: Record<string, unknown>;
  output: Record<string, unknown>;
}

export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function buildSkillContracts(): SkillContract[] {
  return SKILLS.map((skill) => ({
    id: skill.id,
    tier: skill.tier,
    price: { description: formatPrice(skill), singleAnswer: skill.offering === null ? null : toSingleAnswer(skill.offering) },
    freshness: { ...skill.freshness },
    examples: skill.examples.map(({ input }) => input),
    // Wire format: fields with a default are optional.
    input: toSkillJsonSchema(skill.input, 'input'),
    output: toSkillJsonSchema(skill.output, 'input'),
  }));
}

function toSingleAnswer(offering: Offering): SingleAnswer {
  const { price } = offering;
  return { offering: getOfferingId(offering), amount: formatAmount(price), asset: price.asset };
}
