import { z } from 'zod';

/**
 * What JSON Schema can say of an input where zod knows only a function: keywords that the API reference adds to the schema. They stand
 * apart from zod's own metadata, which tools of MCP and the agent card publish, because model providers reject composition there.
 */
const INPUT_RULES = z.registry<Record<string, unknown>>();

/** Adds keywords of JSON Schema (2020-12) to an input in the API reference; the schema itself stays as it is. */
export function withInputRules<T extends z.ZodType>(schema: T, rules: Record<string, unknown>): T {
  INPUT_RULES.add(schema, rules);
  return schema;
}

/** The keywords of a schema, or of the one that it was described anew from. */
export function getInputRules(schema: z.core.$ZodType): Record<string, unknown> | undefined {
  for (let ancestor: z.core.$ZodType | undefined = schema; ancestor !== undefined; ancestor = ancestor._zod.parent) {
    const rules = INPUT_RULES.get(ancestor as z.ZodType);
    if (rules !== undefined) return rules;
  }
  return undefined;
}
