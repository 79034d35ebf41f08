import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { faults, type JsonSchema, undocumented } from '../../support/http/reply-schema.ts';

const ENTRY = z.object({ at: z.iso.datetime(), side: z.enum(['UP', 'DOWN']).nullable() });
const REPLY = z.object({ success: z.literal(true), entries: z.array(ENTRY), note: z.string().optional() });
const GOOD = { success: true, entries: [{ at: '2026-08-01T21:35:00.000Z', side: null }] };

describe('an answer', () => {
  it('that is as described has no fault', () => {
    expect(undocumented(REPLY, GOOD)).toEqual([]);
    expect(undocumented(REPLY, { ...GOOD, note: 'n' })).toEqual([]);
  });

  it.each([
    ['a field too many', { ...GOOD, extra: 1 }, 'extra'],
    ['a field too many within', { ...GOOD, entries: [{ ...GOOD.entries[0], extra: 1 }] }, 'extra'],
    ['a field missing', { success: true }, 'entries'],
    ['a value of another type', { ...GOOD, entries: [{ at: '2026-08-01T21:35:00.000Z', side: 1 }] }, 'entries.0.side'],
    ['null where none can come', { ...GOOD, entries: [{ at: null, side: null }] }, 'entries.0.at'],
    ['no time', { ...GOOD, entries: [{ at: 'yesterday', side: null }] }, 'entries.0.at'],
    ['another literal', { ...GOOD, success: false }, 'success'],
  ])('with %s has one that is named', (_, value, named) => {
    const found = undocumented(REPLY, value);
    expect(found.length).toBeGreaterThan(0);
    for (const fault of found) expect(fault).toContain(named);
  });

  it('is checked in the branch of a union that comes closest', () => {
    const either = z.union([z.object({ kind: z.literal('a'), x: z.number() }), z.object({ kind: z.literal('b'), y: z.string() })]);
    expect(undocumented(either, { kind: 'b', y: 'text' })).toEqual([]);
    expect(undocumented(either, { kind: 'b', y: 'text', z: 1 }).join()).toContain('z');
  });

  it('may have further fields only where the schema opens itself', () => {
    expect(undocumented(z.looseObject({ a: z.string() }), { a: 'text', b: 1 })).toEqual([]);
    expect(undocumented(z.record(z.string(), z.number()), { a: 1, b: 'text' })).toHaveLength(1);
  });

  it('is checked against components that are referred to', () => {
    const components: Record<string, JsonSchema> = { Entry: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
    const schema: JsonSchema = { type: 'array', items: { $ref: '#/components/schemas/Entry' } };
    expect(faults(schema, [{ a: 'text' }], components)).toEqual([]);
    expect(faults(schema, [{ a: 'text', b: 1 }], components)).toHaveLength(1);
  });

  it('is checked against the fields of a schema and of those that it extends', () => {
    const components: Record<string, JsonSchema> = { Base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
    const schema: JsonSchema = {
      type: 'object',
      allOf: [{ $ref: '#/components/schemas/Base' }],
      properties: { b: { type: 'number' } },
      required: ['b'],
    };
    expect(faults(schema, { a: 'text', b: 1 }, components)).toEqual([]);
    for (const wrong of [{ b: 1 }, { a: 'text' }, { a: 'text', b: 1, c: 1 }]) expect(faults(schema, wrong, components)).toHaveLength(1);
  });

  it('cannot be checked by a schema that has no closed form', () => {
    expect(() => faults({ allOf: [{ type: 'object' }, { type: 'object' }] }, GOOD)).toThrow('allOf');
  });

  it('may have fields that are called like keywords', () => {
    const schema = z.object({ default: z.string(), enum: z.array(z.string()), required: z.boolean(), properties: z.string() });
    expect(undocumented(schema, { default: 'd', enum: ['e'], required: true, properties: 'p' })).toEqual([]);
    expect(undocumented(schema, { default: 'd', enum: ['e'], required: 'yes', properties: 'p' })).toHaveLength(1);
  });
});
