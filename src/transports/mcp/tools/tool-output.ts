import { z } from 'zod';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';
import type { Skill } from '../../../../skills/skill.ts';
import { ACCESS_WAYS } from './access-ways.ts';

type Fields = Record<string, unknown>;

/** All forms of a tool's structured content. */
function listForms({ output, outline, publicPart }: Skill): z.ZodObject[] {
  return [output, outline.schema, ...(publicPart === undefined ? [] : [withWays(publicPart.schema)])];
}

function withWays(schema: z.ZodObject): z.ZodObject {
  return schema.extend({ ways: ACCESS_WAYS });
}

/** Why a value has none of the forms; undefined when it has one. */
export function findOutputFault(skill: Skill, value: unknown): z.ZodError | undefined {
  const faults = listForms(skill).map((form) => form.safeParse(value).error);
  return faults.some((fault) => fault === undefined) ? undefined : faults[0];
}

/** JSON Schema that every form satisfies: the members of the outline. `full` adds members, which the resource of the schema describes. */
export function buildToolOutputSchema({ id, outline, publicPart }: Skill): Fields {
  const shapes = [outline.schema.shape, ...(publicPart === undefined ? [] : [withWays(publicPart.schema).shape])];
  const members = Object.assign({}, ...shapes) as z.ZodRawShape;
  const isShared = (name: string) => shapes.every((shape) => name in shape);
  const merged = Object.entries(members).map(([name, schema]) => [name, isShared(name) ? schema : (schema as z.ZodType).optional()]);
  const schema = openObjects(toSkillJsonSchema(z.object(Object.fromEntries(merged)), 'output')) as Fields;
  return { description: `detail full adds members: oracle://schemas/${id}`, ...schema };
}

/** A full answer has more members, at every depth. */
function openObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([keyword, value]) => keyword !== 'additionalProperties' || value !== false);
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, openObjects(value)]));
}
