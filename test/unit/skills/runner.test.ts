import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SKILLS } from '../../../skills/index.ts';
import { findSkill, isForSale, prepareCall } from '../../../skills/runner.ts';
import { formatPrice, type Skill } from '../../../skills/skill.ts';
import { type Caller, PAYING_CALLER, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { OracleError } from '../../../src/errors.ts';
import { toInlineJsonSchema } from '../../../src/platform/validation.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const BASIC = { ...PUBLIC_CALLER, tier: 'basic' } as const;

const converted = ({ input, output }: Skill) => [
  toInlineJsonSchema(input, { io: 'input' }) as JsonSchema,
  toInlineJsonSchema(output, { io: 'output' }) as JsonSchema,
];

/** Paths of schema fields without a description, at any depth. */
function undescribed(schema: JsonSchema, path = ''): string[] {
  const { properties = {}, items, anyOf = [], additionalProperties } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => {
      const place = `${path}.${name}`;
      const { description = '' } = field as JsonSchema;
      return [...(description.trim() === '' ? [place] : []), ...undescribed(field as JsonSchema, place)];
    }),
    ...[items, additionalProperties, ...anyOf].flatMap((inner) =>
      typeof inner === 'object' && !Array.isArray(inner) ? undescribed(inner as JsonSchema, path) : [],
    ),
  ];
}

/** Paths of members of one schema that the other has not, at any depth. */
function missingMembers(schema: z.ZodType, other: z.ZodType | undefined, path = ''): string[] {
  const [one, two] = [unwrap(schema), unwrap(other)];
  if (two === undefined) return [path];
  if (one instanceof z.ZodArray) return missingMembers(one.element as z.ZodType, (two as z.ZodArray).element as z.ZodType, path);
  if (!(one instanceof z.ZodObject)) return [];
  const shape = (two as z.ZodObject).shape;
  return Object.entries(one.shape).flatMap(([name, member]) =>
    missingMembers(member as z.ZodType, shape[name] as z.ZodType, `${path}.${name}`),
  );
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? unwrap(schema.unwrap() as z.ZodType) : schema;
}

const errorOf = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    return error as OracleError;
  }
  throw new Error('it was meant to fail');
};

describe('the skills', () => {
  it('have an id each, and those of the interface the right tier and price', () => {
    expect(new Set(SKILLS.map(({ id }) => id)).size).toBe(SKILLS.length);
    expect(Object.fromEntries(SKILLS.map((skill) => [skill.id, [skill.tier, formatPrice(skill)]]))).toMatchObject({
      predict_btc_direction: [
        'basic',
        'included in the basic tier; 0.001 USD for a single answer, paid by x402 with the call over REST, MCP or A2A, or at /oracle; HOLD is charged, too',
      ],
      verify_prediction: ['public', 'free'],
      get_track_record: ['public', 'free'],
      get_market_context: ['public', 'free'],
    });
    expect(SKILLS.filter(({ cost }) => cost === 'rpc').map(({ id }) => id)).toEqual(['verify_prediction']);
  });

  it('reject an unknown name with the list of skills', () => {
    for (const id of ['predict', '', undefined, null, 7, {}, '__proto__', 'constructor', 'PREDICT_BTC_DIRECTION']) {
      const { code, field, suggestedAction } = errorOf(() => findSkill(id));
      expect({ code, field }).toEqual({ code: 'INPUT_INVALID', field: 'skill' });
      for (const skill of SKILLS) expect(suggestedAction).toContain(skill.id);
    }
  });

  it('reject a caller below the tier before the input is validated', () => {
    expect(errorOf(() => prepareCall('predict_btc_direction', { nonsense: 1 }, PUBLIC_CALLER)).code).toBe('UNAUTHENTICATED');
    const poor = { ...PUBLIC_CALLER, wallet: `0x${'1'.repeat(40)}` as const };
    expect(errorOf(() => prepareCall('predict_btc_direction', {}, poor)).code).toBe('TIER_REQUIRED');
    expect(prepareCall('predict_btc_direction', {}, BASIC).input).toEqual({ horizon: '7d', detail: 'basic' });
  });

  it('accept a paying caller, and validate the input then', () => {
    expect(prepareCall('predict_btc_direction', {}, PAYING_CALLER).input).toEqual({ horizon: '7d', detail: 'basic' });
    expect(errorOf(() => prepareCall('predict_btc_direction', { nonsense: 1 }, PAYING_CALLER))).toMatchObject({ code: 'INPUT_INVALID' });
  });

  it('are for sale below the tier if they have a price', () => {
    const forSale = (caller: Caller) => SKILLS.filter((skill) => isForSale(skill, caller)).map(({ id }) => id);
    expect([forSale(PUBLIC_CALLER), forSale(BASIC), forSale({ tier: 'premium' })]).toEqual([['predict_btc_direction'], [], []]);
    const unpriced = { ...SKILLS[0]!, offering: null };
    expect(isForSale(unpriced, PUBLIC_CALLER)).toBe(false);
  });
});

describe.each(SKILLS.map((skill): [string, Skill] => [skill.id, skill]))('%s', (id, skill) => {
  it('has copy for people and for programs', () => {
    const { title, summary, description, tags, freshness } = skill;
    expect(title).toMatch(/^[A-Z].{8,60}[^.]$/);
    expect(summary).toMatch(/^[A-Z].{30,160}[^.]$/);
    expect(description).toMatch(/^[A-Z].{100,1000}\.$/s);
    expect(tags.length).toBeGreaterThan(2);
    expect(new Set(tags).size).toBe(tags.length);
    expect(freshness.seconds).toBeGreaterThan(0);
    expect(freshness.description.length).toBeGreaterThan(10);
  });

  it('has schemas that convert to JSON Schema objects without references', () => {
    for (const schema of converted(skill)) {
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(schema.$ref).toBeUndefined();
      expect(JSON.stringify(schema)).not.toContain('"$ref"');
    }
  });

  it('describes every input and output field', () => {
    for (const schema of converted(skill)) {
      expect(Object.keys(schema.properties ?? {}).length).toBeGreaterThan(0);
      expect(undescribed(schema)).toEqual([]);
    }
  });

  it('has an outline whose members are members of its output', () => {
    expect(missingMembers(skill.outline.schema, skill.output)).toEqual([]);
  });

  it('accepts its examples unchanged, and no unknown field', () => {
    for (const { say, input } of skill.examples) {
      expect(say.length).toBeGreaterThan(10);
      expect(prepareCall(id, input, BASIC).input).toMatchObject(input);
      const { code, field } = errorOf(() => prepareCall(id, { ...input, nonsense: 1 }, BASIC));
      expect({ code, field }).toEqual({ code: 'INPUT_INVALID', field: 'nonsense' });
    }
  });

  it('treats missing input as empty, and rejects other types', () => {
    const outcome = (input: unknown) => {
      try {
        return prepareCall(id, input, BASIC).input;
      } catch (error) {
        return (error as OracleError).message;
      }
    };
    expect([outcome(undefined), outcome(null)]).toEqual([outcome({}), outcome({})]);
    for (const input of [[], 'text', 7, true]) {
      const { code, field } = errorOf(() => prepareCall(id, input, BASIC));
      expect({ code, field }).toEqual({ code: 'INPUT_INVALID', field: 'input' });
    }
  });
});

describe('the input horizon', () => {
  const OF_A_HORIZON = SKILLS.filter(({ id, input }) => 'horizon' in input.shape && id !== 'verify_prediction').map(({ id }) => id);

  it.each([
    ['7', '7d'],
    [7, '7d'],
    ['1', '1d'],
    ['1d', '1d'],
    [2, '2d'],
  ])('%j is parsed as %s by every skill that has one', (horizon, name) => {
    for (const id of OF_A_HORIZON) expect(prepareCall(id, { horizon }, BASIC).input).toMatchObject({ horizon: name });
    expect(prepareCall('verify_prediction', { date: '2026-01-05', horizon }, BASIC).input).toMatchObject({ horizon: name });
  });

  it('is listed with all names, 7d by default', () => {
    const listed = (id: string) =>
      (toInlineJsonSchema(findSkill(id).input, { io: 'input' }).properties as Record<string, JsonSchema>).horizon;
    for (const id of OF_A_HORIZON) expect(listed(id), id).toMatchObject({ type: 'string', enum: ['1d', '2d', '3d', '7d'], default: '7d' });
  });
});

describe('invalid input is rejected with the name of its field', () => {
  const CASES: [string, Record<string, unknown>, string][] = [
    ['predict_btc_direction', { horizon: '4d' }, 'horizon'],
    ['predict_btc_direction', { horizon: 7.5 }, 'horizon'],
    ['verify_prediction', {}, 'predictionId'],
    ['verify_prediction', { horizon: '7d' }, 'predictionId'],
    ['verify_prediction', { date: '2026-01-05', predictionId: '2026-01-05:7d' }, 'predictionId'],
    ['verify_prediction', { date: '2026-01-05', uid: `0x${'1'.repeat(64)}` }, 'uid'],
    ['verify_prediction', { predictionId: '2026-01-05:7d', uid: `0x${'1'.repeat(64)}` }, 'uid'],
    ['verify_prediction', { date: '2026-02-30' }, 'date'],
    ['verify_prediction', { date: '2026-01-05', horizon: '5d' }, 'horizon'],
    ['verify_prediction', { predictionId: '2026-01-05' }, 'predictionId'],
    ['verify_prediction', { predictionId: '2026-01-05:9d' }, 'predictionId'],
    ['verify_prediction', { uid: '0x12' }, 'uid'],
    ['verify_prediction', { uid: `${'ab'.repeat(32)}` }, 'uid'],
    ['get_track_record', { horizon: 77 }, 'horizon'],
    ['get_track_record', { from: 'yesterday' }, 'from'],
    ['get_track_record', { from: '2026-02-02', to: '2026-02-01' }, 'from'],
    ['get_track_record', { to: '2026-13-01' }, 'to'],
    ['get_track_record', { regime: 'BULL' }, 'regime'],
    ['get_track_record', { status: 'GATED' }, 'status'],
    ['get_track_record', { page: 0 }, 'page'],
    ['get_track_record', { page: 1.5 }, 'page'],
    ['get_track_record', { pageSize: 101 }, 'pageSize'],
    ['get_market_context', { include: [] }, 'include'],
    ['get_market_context', { include: 'price' }, 'include'],
    ['get_market_context', { include: ['price', 'forecast'] }, 'include.1'],
  ];

  it.each(CASES)('%s %j', (id, input, field) => {
    const error = errorOf(() => prepareCall(id, input, BASIC));
    expect({ code: error.code, field: error.field }).toEqual({ code: 'INPUT_INVALID', field });
    expect(error.message).not.toMatch(/undefined|zod/i);
  });
});
