import { z } from 'zod';
import type { AnswerSample } from '../src/commerce/x402/protocol/bazaar.ts';
import { toSkillJsonSchema } from './json-schema.ts';

type Fields = Record<string, unknown>;

/** Keywords of a listed member. What is inside of objects and lists shows in the example, and would be most of the text. */
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

/** A member that may be null is listed with the type of its values. */
function shorten({ anyOf, ...schema }: Fields): Fields {
  const value = (anyOf as Fields[] | undefined)?.find(({ type }) => type !== 'null');
  return Object.fromEntries(Object.entries({ ...value, ...schema }).filter(([keyword]) => KEPT.includes(keyword)));
}
