import { buildSkillSample } from '../../../../../skills/answer-sample.ts';
import { toSkillJsonSchema } from '../../../../../skills/json-schema.ts';
import type { Skill } from '../../../../../skills/skill.ts';
import { type BazaarDeclaration, declareJsonResource } from '../../../../commerce/x402/protocol/bazaar.ts';

/** How facilitators list the operation of a skill whose single answers are sold. */
export function declareSkillOperation(skill: Skill): BazaarDeclaration {
  const { input, examples } = skill;
  const answer = buildSkillSample(skill);
  const reply = { example: { output: answer.example }, schema: { type: 'object', properties: { output: answer.schema } } };
  return declareJsonResource({ example: examples[0].input, schema: toSkillJsonSchema(input, 'input') }, reply);
}
