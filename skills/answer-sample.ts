import { z } from 'zod';
import type { AnswerSample } from '../src/commerce/x402/protocol/bazaar.ts';
import { SAMPLE_ANSWERS } from '../src/commerce/x402/protocol/sample-answers.ts';
import { toSkillJsonSchema } from './json-schema.ts';
import type { Skill } from './skill.ts';

type Fields = Record<string, unknown>;

/** Keywords of a listed member. Nested members show in the example, and would be most of the text. */
const KEPT = ['type', 'enum', 'description'];

/** A sample of an answer with the schema of its members. @param example members of the answer; others are left out */
export function buildAnswerSample(answer: z.ZodObject, example: Fields): AnswerSample {
  const shape = Object.fromEntries(Object.entries(answer.shape).filter(([name]) => name in example));
  const { properties } = toSkillJsonSchema(z.object(shape), 'input') as { properties: Record<string, Fields> };
  return {
    example: Object.fromEntries(Object.keys(shape).map((name) => [name, example[name]])),
    schema: { type: 'object', properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, shorten(one)])) },
  };
}

/** The sample of what a skill sells. */
export function buildSkillSample({ output, offering }: Pick<Skill, 'output' | 'offering'>): AnswerSample {
  return buildAnswerSample(output, SAMPLE_ANSWERS[offering?.name ?? ''] ?? {});
}

/** A member that may be null is listed with the type of its values. */
function shorten({ anyOf, ...schema }: Fields): Fields {
  const value = (anyOf as Fields[] | undefined)?.find(({ type }) => type !== 'null');
  return Object.fromEntries(Object.entries({ ...value, ...schema }).filter(([keyword]) => KEPT.includes(keyword)));
}
