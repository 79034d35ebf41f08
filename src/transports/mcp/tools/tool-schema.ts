import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';
import type { Skill } from '../../../../skills/skill.ts';
import type { McpPayments } from '../payments.ts';
import { buildToolInputSchema } from './tool-input.ts';
import { buildToolOutputSchema, findOutputFault } from './tool-output.ts';

type Fields = Record<string, unknown>;

/** Cached because a server is built per request, and conversion costs more than an answer. */
const cache = new Map<string, Fields>();

/** A copy, as callers may change it. */
function getCached(key: string, build: () => Fields): Fields {
  const known = cache.get(key) ?? build();
  cache.set(key, known);
  return structuredClone(known);
}

const TARGET = { target: 'draft-2020-12' } as const;

type Validate = StandardSchemaWithJSON<Fields>['~standard']['validate'];

function toStandardSchema(getSchema: () => Fields, validate: Validate): StandardSchemaWithJSON<Fields> {
  return { '~standard': { version: 1, vendor: 'bitcoin-signal-oracle', validate, jsonSchema: { input: getSchema, output: getSchema } } };
}

/** Input schema for listing only: the skill runner validates, so that errors are the same over all transports. */
export function toListedInput(skill: Skill, payments: McpPayments): StandardSchemaWithJSON<Fields> {
  const getSchema = () => getCached(`input ${skill.id} ${payments}`, () => buildToolInputSchema(skill, payments));
  return toStandardSchema(getSchema, (value) => ({ value: value as Fields }));
}

/** Input and full answer of a tool, with all descriptions; what recurs in the answer stands once, in `$defs`. */
export function describeTool(skill: Skill, payments: McpPayments): Fields {
  const output = getCached(`full ${skill.id}`, () => toSkillJsonSchema(skill.output, 'output', { reused: 'ref' }));
  return { tool: skill.id, inputSchema: toListedInput(skill, payments)['~standard'].jsonSchema.input(TARGET), fullOutputSchema: output };
}

/** Output schema of all forms of an answer. The SDK enforces on results that they have one. */
export function toListedOutput(skill: Skill): StandardSchemaWithJSON<Fields> {
  const getSchema = () => getCached(`output ${skill.id}`, () => buildToolOutputSchema(skill));
  return toStandardSchema(getSchema, (value) => {
    const fault = findOutputFault(skill, value);
    return fault === undefined ? { value: value as Fields } : { issues: fault.issues.map(({ message, path }) => ({ message, path })) };
  });
}
