import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SKILLS } from '../../../../../skills/index.ts';
import type { Skill } from '../../../../../skills/skill.ts';
import { describeTool, toListedInput, toListedOutput } from '../../../../../src/mcp/tools.ts';

const OUTPUT = z.object({ count: z.int().min(1), rows: z.array(z.string()) });
const SKILL = {
  id: 'count_things',
  tier: 'public',
  offering: null,
  input: z.strictObject({ count: z.int().min(1).default(3).describe('How many') }),
  output: OUTPUT,
  outline: { schema: z.object({ count: OUTPUT.shape.count }) },
} as unknown as Skill;
const target = { target: 'draft-2020-12' } as const;
const inputOf = (skill: Skill) => toListedInput(skill, 'call')['~standard'].jsonSchema.input(target);
const outputOf = (skill: Skill) => toListedOutput(skill)['~standard'].jsonSchema.output(target);
const faultOf = (schema: object, value: unknown) => new AjvJsonSchemaValidator().getValidator(schema as never)(value).errorMessage;

describe('the schemas of a tool', () => {
  it('list the input of the skill with the choices of MCP', () => {
    const input = inputOf(SKILL);
    expect(input).toMatchObject({ type: 'object', properties: { count: { default: 3, description: 'How many' }, detail: {} } });
    expect(input).not.toHaveProperty('required');
    expect(Object.keys(input.properties as object)).toEqual(['count', 'detail']);
  });

  it('list access alone for a tool that is sold here', () => {
    const [predict] = SKILLS as [Skill];
    const namesOf = (payments: 'call' | 'elsewhere' | 'off') =>
      Object.keys(toListedInput(predict, payments)['~standard'].jsonSchema.input(target).properties as object);
    expect([namesOf('call'), namesOf('elsewhere'), namesOf('off')]).toEqual([
      ['horizon', 'detail', 'access'],
      ['horizon', 'detail'],
      ['horizon', 'detail'],
    ]);
  });

  it('list the types of the members that every form has, and describe them whole elsewhere', () => {
    const outline = z.object({
      count: OUTPUT.shape.count,
      day: z.enum(['MONDAY', 'SUNDAY']).nullable().describe('Of the week'),
      nested: z.object({ deep: z.string().describe('Far below') }).nullable(),
      late: z.boolean().optional(),
    });
    const skill = { ...SKILL, id: 'count_more', outline: { schema: outline } };
    const orNull = (type: string) => ({ anyOf: [{ type }, { type: 'null' }] });
    const listed = outputOf(skill);
    expect(listed).toEqual({ type: 'object', properties: { count: { type: 'integer' }, day: orNull('string'), nested: orNull('object') } });
    const answer = { count: 2, day: null, nested: { deep: 'x', deeper: 1 } };
    expect([answer, { ...answer, rows: [] }].map((one) => faultOf(listed, one))).toEqual([undefined, undefined]);
    expect(faultOf(listed, { ...answer, count: '2' })).toBeDefined();
    const { summarySchema } = describeTool(skill, 'call') as { summarySchema: object };
    expect(summarySchema).toMatchObject({
      required: ['count', 'day', 'nested'],
      properties: { day: { description: 'Of the week' }, late: {} },
    });
    expect([faultOf(summarySchema, answer), faultOf(summarySchema, { rows: [] })]).toEqual([undefined, expect.any(String)]);
  });

  it('are copies that callers cannot change', () => {
    inputOf(SKILL).properties = {};
    expect(inputOf(SKILL).properties).toHaveProperty('count');
  });

  it('accept every input for later validation, and reject output of no form', async () => {
    expect(await toListedInput(SKILL, 'call')['~standard'].validate({ count: 'many' })).toEqual({ value: { count: 'many' } });
    expect(await toListedOutput(SKILL)['~standard'].validate({ count: 2 })).toEqual({ value: { count: 2 } });
    expect(await toListedOutput(SKILL)['~standard'].validate({ rows: [] })).toHaveProperty('issues');
  });

  it.each(SKILLS)('of $id are self-contained, and its full schema has every member', (skill) => {
    for (const json of [inputOf(skill), outputOf(skill)]) {
      expect(json.type).toBe('object');
      expect(Object.keys(json.properties as object).length).toBeGreaterThan(0);
      expect(JSON.stringify(json)).not.toContain('$ref');
    }
    const { fullOutputSchema } = describeTool(skill, 'call') as { fullOutputSchema: { properties: object } };
    expect(Object.keys(fullOutputSchema.properties)).toEqual(Object.keys(skill.output.shape));
  });
});
