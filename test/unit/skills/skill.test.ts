import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SKILLS } from '../../../skills/index.ts';
import { toSkillJsonSchema, withSingleTypes } from '../../../skills/skill.ts';
import { isVague, subschemasOf } from '../../support/http/json-schema.ts';

describe('a schema with a list of types', () => {
  it('becomes an anyOf, with annotations kept once', () => {
    const schema = { type: ['number', 'null'], minimum: 0, description: 'BTC/USD', default: null };
    expect(withSingleTypes(schema)).toEqual({
      anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
      description: 'BTC/USD',
      default: null,
    });
  });

  it('keeps the assertions in each branch', () => {
    expect(withSingleTypes({ type: ['string', 'null'], enum: ['a', null] })).toEqual({
      anyOf: [
        { type: 'string', enum: ['a', null] },
        { type: 'null', enum: ['a', null] },
      ],
    });
  });

  it('is found at any depth, but not in fields named type or list values', () => {
    const several = { type: ['string', 'null'] };
    const schema = {
      type: 'object',
      properties: { type: several, list: { type: 'array', items: several }, named: { type: 'object', additionalProperties: several } },
      anyOf: [{ items: several }],
      default: { type: ['a', 'b'] },
    };
    const mapped = withSingleTypes(schema);
    expect(subschemasOf(mapped).filter(({ type }) => Array.isArray(type))).toEqual([]);
    expect(mapped).toMatchObject({ default: schema.default, properties: { type: { anyOf: [{ type: 'string' }, { type: 'null' }] } } });
  });
});

describe('the schemas of the skills', () => {
  it.each(SKILLS.map(({ id, input, output }) => ({ id, input, output })))('have single types: $id', ({ input, output }) => {
    const schemas = [...subschemasOf(toSkillJsonSchema(input, 'input')), ...subschemasOf(toSkillJsonSchema(output, 'output'))];
    expect(schemas.length).toBeGreaterThan(10);
    expect(schemas.filter(isVague)).toEqual([]);
  });

  it('would not without the conversion', () => {
    const nullable = z.object({ price: z.number().nullable() });
    expect(subschemasOf(z.toJSONSchema(nullable)).filter(isVague)).toHaveLength(1);
    expect(subschemasOf(toSkillJsonSchema(nullable, 'output')).filter(isVague)).toEqual([]);
  });
});
