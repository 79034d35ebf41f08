import { describe, expect, it } from 'vitest';
import type { oas31 } from 'zod-openapi';
import { nameSchemas } from '../../../../../../src/transports/http/openapi/components/name-schemas.ts';

type Schema = Record<string, unknown>;

const SIDE = { type: 'string', enum: ['UP', 'DOWN'] };
const object = (properties: Record<string, Schema>, extra: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...extra,
});
const TRADE = object({ side: { description: 'Its side', ...SIDE }, size: { description: 'Its size', type: 'number' } });

/** A document of operations that answer with these schemas. */
function documentOf(replies: Record<string, Schema>): oas31.OpenAPIObject {
  const paths = Object.entries(replies).map(([operationId, schema]) => [
    `/${operationId}`,
    { get: { operationId, responses: { 200: { description: 'Success', content: { 'application/json': { schema } } } } } },
  ]);
  return nameSchemas({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: Object.fromEntries(paths) });
}

const schemasOf = (replies: Record<string, Schema>) => documentOf(replies).components!.schemas as Record<string, Schema>;

describe('a component', () => {
  it('is named after its operation and referenced by it', () => {
    const document = documentOf({ getTrade: TRADE });
    expect(document.paths!['/getTrade']!.get!.responses![200]).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/GetTradeResponse' } } },
    });
    expect(document.components!.schemas).toEqual({ GetTradeResponse: TRADE });
  });

  it('is named after its constant, which is not served', () => {
    const tagged = { ...TRADE, 'x-schema-name': 'Trade' };
    expect(schemasOf({ getTrade: tagged, listTrades: object({ trades: { description: 'All', type: 'array', items: tagged } }) })).toEqual({
      Trade: TRADE,
      ListTradesResponse: object({ trades: { description: 'All', type: 'array', items: { $ref: '#/components/schemas/Trade' } } }),
    });
  });

  it('is named after its property where shared, entries in the singular, each use with its own description', () => {
    const one = object({ entry: { description: 'The last one', ...TRADE } });
    const all = object({ entries: { description: 'All of them', type: 'array', items: TRADE } });
    expect(schemasOf({ one, all })).toEqual({
      Entry: TRADE,
      OneResponse: object({ entry: { description: 'The last one', $ref: '#/components/schemas/Entry' } }),
      AllResponse: object({ entries: { description: 'All of them', type: 'array', items: { $ref: '#/components/schemas/Entry' } } }),
    });
  });

  it('is named after its owner and property where it is large, although it occurs once', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`field${i}`, { type: 'string', description: `Text ${i} of it` }]),
    );
    const schemas = schemasOf({ getTrade: object({ report: { description: 'What was found', ...object(fields) } }) });
    expect(schemas.GetTradeResponse).toEqual(
      object({ report: { description: 'What was found', $ref: '#/components/schemas/TradeReport' } }),
    );
    expect(schemas.TradeReport).toEqual(object(fields));
  });

  it('is named after its owner too where two properties of one name differ', () => {
    const other = object({ price: { description: 'Its price', type: 'number' } });
    const nested = (schema: Schema) => object({ part: { description: 'Of it', ...object({ entry: { description: 'One', ...schema } }) } });
    const names = Object.keys(
      schemasOf({ getA: nested(TRADE), getB: object({ entry: TRADE }), getC: nested(other), getD: object({ entry: other }) }),
    );
    expect(names.filter((name) => name.endsWith('Entry')).length).toBe(2);
    expect(new Set(names).size).toBe(names.length);
  });

  it('with null is one schema of two types', () => {
    const nullable = { description: 'None before', anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] };
    expect(schemasOf({ count: object({ count: nullable }) }).CountResponse).toEqual(
      object({ count: { description: 'None before', type: ['integer', 'null'], minimum: 0 } }),
    );
  });

  it('extends another one that has all of its properties', () => {
    const names = Array.from({ length: 30 }, (_, i) => `field${i}`);
    const base = Object.fromEntries(names.map((name) => [name, { description: 'Short', type: 'string' }]));
    const more = { g: { description: 'More', type: 'string' } };
    expect(schemasOf({ base: object(base), wider: object({ ...base, ...more }) }).WiderResponse).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/BaseResponse' }],
      properties: more,
      required: ['g'],
    });
    const closed = { additionalProperties: false };
    expect(schemasOf({ base: object(base, closed), wider: object({ ...base, ...more }, closed) }).WiderResponse).not.toHaveProperty(
      'allOf',
    );
  });
});
