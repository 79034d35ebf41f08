import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SKILLS } from '../../../../../skills/index.ts';
import { toListedInput, toListedOutput } from '../../../../../src/transports/mcp/tools/tool-schema.ts';

const SCHEMA = z.strictObject({ count: z.int().min(1).default(3).describe('How many') });
const target = { target: 'draft-2020-12' } as const;

describe('the schemas of a tool', () => {
  it('list input and output', () => {
    const input = toListedInput(SCHEMA)['~standard'].jsonSchema.input(target);
    expect(input).toMatchObject({ type: 'object', properties: { count: { type: 'integer', default: 3, description: 'How many' } } });
    expect(input).not.toHaveProperty('required');
    expect(toListedOutput(SCHEMA)['~standard'].jsonSchema.output(target)).toMatchObject({
      required: ['count'],
      additionalProperties: false,
    });
  });

  it('are copies that callers cannot change', () => {
    const first = toListedInput(SCHEMA)['~standard'].jsonSchema.input(target);
    first.properties = {};
    expect(toListedInput(SCHEMA)['~standard'].jsonSchema.input(target).properties).toHaveProperty('count');
  });

  it('accept every input for later validation, and reject undeclared output', async () => {
    expect(await toListedInput(SCHEMA)['~standard'].validate({ count: 'many' })).toEqual({ value: { count: 'many' } });
    expect(await toListedOutput(SCHEMA)['~standard'].validate({ count: 2 })).toEqual({ value: { count: 2 } });
    expect(await toListedOutput(SCHEMA)['~standard'].validate({ count: 2, secret: 1 })).toHaveProperty('issues');
  });

  it.each(SKILLS.map(({ id, input, output }) => ({ id, input, output })))('of $id are self-contained', ({ input, output }) => {
    for (const json of [
      toListedInput(input)['~standard'].jsonSchema.input(target),
      toListedOutput(output)['~standard'].jsonSchema.output(target),
    ]) {
      expect(json.type).toBe('object');
      expect(Object.keys(json.properties as object).length).toBeGreaterThan(0);
      expect(json).not.toHaveProperty('$ref');
    }
  });
});
