import { z } from 'zod';

/** Apart from zod's metadata, which MCP tools and the agent card publish: model providers reject composition keywords there. */
const INPUT_RULES = z.registry<Record<string, unknown>>();

/** Adds JSON Schema (2020-12) keywords to an input in the API reference; the schema itself is unchanged. */
export function withInputRules<T extends z.ZodType>(schema: T, rules: Record<string, unknown>): T {
  INPUT_RULES.add(schema, rules);
  return schema;
}

/** The keywords of a schema or of its parents, from which `describe` derives it. */
export function getInputRules(schema: z.core.$ZodType): Record<string, unknown> | undefined {
  for (let ancestor: z.core.$ZodType | undefined = schema; ancestor !== undefined; ancestor = ancestor._zod.parent) {
    const rules = INPUT_RULES.get(ancestor as z.ZodType);
    if (rules !== undefined) return rules;
  }
  return undefined;
}
