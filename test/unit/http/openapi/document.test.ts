import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildOpenApiDocument } from '../../../../src/http/openapi/document.ts';
import { route } from '../../../../src/http/route.ts';

type Schema = Record<string, unknown>;

const SIDE = z.enum(['UP', 'DOWN']).describe('A side').meta({ id: 'Side' });
const MEMBERS = Object.fromEntries('abcdefgh'.split('').map((name) => [name, z.string().describe(`Member ${name}`)]));

function schemasOf(replies: Record<string, z.ZodType>, options: { describesReplies?: boolean } = {}): Record<string, Schema> {
  const routes = Object.entries(replies).map(([name, reply]) =>
    route(`GET /${name}`, name, { tag: 'service', summary: 'X', reply, handle: () => ({ raw: '' }) }),
  );
  const document = buildOpenApiDocument(routes, { publicUrl: 'https://oracle.test', ...options });
  return JSON.parse(JSON.stringify(document.components!.schemas));
}

describe('a schema of a reply', () => {
  it('is named by its id, else after the operation', () => {
    const named = z.object({ side: SIDE.describe('Its side') }).meta({ id: 'Trade' });
    const schemas = schemasOf({ getTrade: named, listTrades: z.object({ trades: z.array(named) }) });
    expect(schemas).toMatchObject({
      Side: { type: 'string', enum: ['UP', 'DOWN'], description: 'A side' },
      Trade: { properties: { side: { $ref: '#/components/schemas/Side' } } },
      ListTradesResponse: { properties: { trades: { items: { $ref: '#/components/schemas/Trade' } } } },
    });
    expect(schemas).not.toHaveProperty('GetTradeResponse');
  });

  it('has the types of its members alone, unless replies are described', () => {
    const reply = { getCount: z.object({ count: z.int().min(0).nullable().describe('None before'), minimum: SIDE.describe('Of it') }) };
    const required = ['count', 'minimum'];
    const minimum = { $ref: '#/components/schemas/Side' };
    expect(schemasOf(reply).GetCountResponse).toEqual({
      type: 'object',
      properties: { count: { type: ['integer', 'null'] }, minimum },
      required,
    });
    expect(schemasOf(reply, { describesReplies: true }).GetCountResponse).toEqual({
      type: 'object',
      properties: {
        count: { type: ['integer', 'null'], minimum: 0, description: 'None before' },
        minimum: { ...minimum, description: 'Of it' },
      },
      required,
    });
  });

  it('refers to a schema with an id once where it is described twice', () => {
    const twice = z.object({ a: z.string() }).meta({ id: 'A' }).describe('First').describe('Second');
    expect(schemasOf({ getIt: z.object({ twice }) }, { describesReplies: true }).GetItResponse).toMatchObject({
      properties: { twice: { $ref: '#/components/schemas/A', description: 'Second' } },
    });
    expect(schemasOf({ getIt: z.object({ twice }) }).GetItResponse!.properties).toEqual({ twice: { $ref: '#/components/schemas/A' } });
  });

  it('extends another one that has all of its other members', () => {
    const base = z.object(MEMBERS);
    const schemas = schemasOf({ getBase: base, getWider: base.extend({ z: z.string() }), getOther: base.extend({ a: z.number() }) });
    expect(schemas.GetWiderResponse).toEqual({
      type: 'object',
      allOf: [{ $ref: '#/components/schemas/GetBaseResponse' }],
      properties: { z: { type: 'string' } },
      required: ['z'],
    });
    expect(schemas.GetOtherResponse).not.toHaveProperty('allOf');
  });

  it('extends nothing where it accepts any member', () => {
    const base = z.object(MEMBERS);
    expect(schemasOf({ getBase: base, getWider: z.looseObject({ ...MEMBERS, z: z.string() }) }).GetWiderResponse).not.toHaveProperty(
      'allOf',
    );
  });
});
