import { buildSkillSample } from '../../../../skills/answer-sample.ts';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';
import type { Skill } from '../../../../skills/skill.ts';
import { type BazaarDeclaration, declareMcpTool } from '../../../commerce/x402/protocol/bazaar.ts';
import { ACCESS_ARGUMENT, PAY } from '../payments.ts';

/** A skill does not change within a process. */
const listings = new Map<string, BazaarDeclaration>();

/** How facilitators list the tool of a skill whose single answers are sold. */
export function getToolListing(skill: Skill): BazaarDeclaration {
  const listing = listings.get(skill.id) ?? declareTool(skill);
  listings.set(skill.id, listing);
  return listing;
}

function declareTool(skill: Skill): BazaarDeclaration {
  const { id, summary, examples } = skill;
  const { properties, ...schema } = toSkillJsonSchema(skill.input, 'input');
  const inputSchema = { ...schema, properties: { ...(properties as object), [ACCESS_ARGUMENT]: { type: 'string', const: PAY } } };
  const tool = { toolName: id, description: summary, inputSchema, example: { ...examples[0].input, [ACCESS_ARGUMENT]: PAY } };
  return declareMcpTool(tool, buildSkillSample(skill));
}
