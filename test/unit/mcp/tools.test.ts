import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SKILLS } from '../../../skills/index.ts';
import type { Skill } from '../../../skills/skill.ts';
import { findOffering } from '../../../src/commerce/offerings.ts';
import { createPaymentRejection, PaymentRequiredError } from '../../../src/commerce/x402/terms.ts';
import { OracleError } from '../../../src/errors.ts';
import { describeTool, PayableError, toListedInput, toListedOutput, toToolError, toToolResult } from '../../../src/mcp/tools.ts';
import { quoteResource } from '../../support/commerce/quote.ts';

const ADDRESS = { publicUrl: 'https://oracle.example.org' };
const TILL = {
  ...{
    chainId: 8453,
    asset: `0x${'1'.repeat(40)}` as const,
    payee: `0x${'2'.repeat(40)}` as const,
    domain: { name: 'USD Coin', version: '2' },
    realMoney: false,
  },
  publicUrl: ADDRESS.publicUrl,
} as const;
const RESOURCE = { url: 'https://oracle.example.org/mcp#predict_btc_direction', description: 'A forecast', mimeType: 'application/json' };
const TERMS = await quoteResource(TILL, findOffering('x402', 'x402_signal')!, RESOURCE);
const KEY = 'bitcoin-signal-oracle/error';

describe('an error', () => {
  it('contains message, field, action and retry time', () => {
    const error = new OracleError('RATE_LIMITED', 'The limit is reached', { suggestedAction: 'Wait 7 s.', retryAfterSeconds: 7 });
    const { isError, content, _meta, structuredContent } = toToolError(error, ADDRESS);
    expect([isError, structuredContent]).toEqual([true, undefined]);
    expect(content).toEqual([
      { type: 'text', text: 'RATE_LIMITED: The limit is reached\nWhat to do: Wait 7 s.\nTry again after 7 seconds.' },
    ]);
    expect(_meta?.[KEY]).toEqual({
      ...{ code: 'RATE_LIMITED', message: 'The limit is reached', retryable: true },
      ...{ suggestedAction: 'Wait 7 s.', retryAfterSeconds: 7 },
    });
  });

  it('names the field, and whether a retry may succeed', () => {
    const textOf = (error: unknown) => toToolError(error, ADDRESS).content[0];
    expect(textOf(new OracleError('INPUT_INVALID', 'No', { field: 'horizon' }))).toHaveProperty(
      'text',
      'INPUT_INVALID: No\nField: horizon\nWhat to do: Correct "horizon" and send the request again.',
    );
    expect(textOf(new OracleError('STEP_WAITING', 'Not yet'))).toHaveProperty('text', expect.stringMatching(/may succeed later\.$/));
  });

  it('explains to a caller without a token how to get one', () => {
    const received = toToolError(new OracleError('UNAUTHENTICATED', 'This needs an access token', { field: 'Authorization' }), ADDRESS);
    expect(received._meta?.[KEY]).toHaveProperty(
      'suggestedAction',
      expect.stringContaining('POST https://oracle.example.org/api/svc/oracle/verify'),
    );
  });

  it('explains how a token is sent where headers are not available', () => {
    const error = new OracleError('UNAUTHENTICATED', 'This needs an access token');
    const received = JSON.stringify(toToolError(error, { ...ADDRESS, howToSendToken: 'Set ORACLE_TOKEN.' }).content);
    expect(received).toContain('Set ORACLE_TOKEN.');
    expect(received).not.toContain('Bearer');
  });

  it('of a payable call has the requirements first, and as data where clients skip schema validation', () => {
    const refusal = new OracleError('TIER_REQUIRED', 'Too little', { suggestedAction: 'Hold more.' });
    const error = new PayableError(refusal, TERMS);
    const [required, words] = toToolError(error, ADDRESS).content as { text: string }[];
    expect(JSON.parse(required!.text)).toMatchObject({ x402Version: 2, accepts: [{ amount: '1000', network: 'eip155:8453' }] });
    expect(words!.text).toMatch(/^TIER_REQUIRED: Too little\nWhat to do: Hold more\. Or pay for this answer\. .*_meta\["x402\/payment"\]/);
    expect(toToolError(error, ADDRESS)).toMatchObject({ isError: true, _meta: { [KEY]: { code: 'TIER_REQUIRED' } } });
    expect(toToolError(error, ADDRESS).structuredContent).toBeUndefined();
    expect(toToolError(error, { ...ADDRESS, isCurrentRevision: true }).structuredContent).toEqual(JSON.parse(required!.text));
    expect(toToolError(refusal, { ...ADDRESS, isCurrentRevision: true }).structuredContent).toBeUndefined();
  });

  it('of a payment has the reason and the requirements', () => {
    const error = new PaymentRequiredError(TERMS, 'amount_mismatch', 'Too little was paid', { field: 'payment' });
    const [required, words] = toToolError(error, ADDRESS).content as { text: string }[];
    expect(JSON.parse(required!.text)).toMatchObject({
      error: 'invalid_exact_evm_payload_authorization_value_mismatch',
      accepts: [{ amount: '1000' }],
    });
    expect(words!.text).toMatch(/^PAYMENT_REQUIRED: Too little was paid\nField: payment\n/);
  });

  it('of a settlement has the response of the x402 transport, and no other error does', () => {
    const payer = `0x${'3'.repeat(40)}` as const;
    const unsettled = toToolError(createPaymentRejection(TERMS, 'out_of_gas', { payer, unsettledOf: payer }), ADDRESS);
    expect(unsettled._meta?.['x402/payment-response']).toEqual({
      ...{ success: false, errorReason: 'unexpected_settle_error', transaction: '', network: 'eip155:8453', payer },
    });
    expect(toToolError(createPaymentRejection(TERMS, 'expired', { payer }), ADDRESS)._meta).not.toHaveProperty('x402/payment-response');
  });

  it('that is unknown is sent without its text', () => {
    expect(JSON.stringify(toToolError(new Error('password'), ADDRESS))).not.toContain('password');
  });
});

describe('an answer', () => {
  const ANSWER = { output: { price: 1, rows: [1, 2] }, outline: { price: 1 }, text: 'One dollar.', rows: '1 of 2' };

  it('in full is text, then JSON text, and the same as structured content', () => {
    const { content, structuredContent, isError } = toToolResult(ANSWER, 'full');
    expect(content).toEqual([
      { type: 'text', text: 'One dollar.' },
      { type: 'text', text: '{"price":1,"rows":[1,2]}' },
    ]);
    expect([structuredContent, isError]).toEqual([ANSWER.output, undefined]);
  });

  it('in summary is text with its rows, and the outline as structured content', () => {
    const { content, structuredContent } = toToolResult(ANSWER, 'summary');
    expect(content).toEqual([
      { type: 'text', text: 'One dollar.' },
      { type: 'text', text: '1 of 2' },
    ]);
    expect(structuredContent).toEqual({ price: 1 });
    expect(toToolResult({ ...ANSWER, rows: null }, 'summary').content).toHaveLength(1);
  });
});
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
    expect(input).toMatchObject({ type: 'object', properties: { count: { default: 3, description: 'How many' }, form: {} } });
    expect(input).not.toHaveProperty('required');
    expect(Object.keys(input.properties as object)).toEqual(['count', 'form']);
  });

  it('list access alone for a tool that is sold here', () => {
    const [predict] = SKILLS as [Skill];
    const ofSkill = ['horizon', 'detail', 'riskPercent', 'accountUsd'];
    const namesOf = (payments: 'call' | 'elsewhere' | 'off') =>
      Object.keys(toListedInput(predict, payments)['~standard'].jsonSchema.input(target).properties as object);
    expect([namesOf('call'), namesOf('elsewhere'), namesOf('off')]).toEqual([
      [...ofSkill, 'form', 'access'],
      [...ofSkill, 'form'],
      [...ofSkill, 'form'],
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

  it('cannot be changed by callers', () => {
    const listed = toListedInput(SKILL, 'call')['~standard'].jsonSchema.input(target);
    const change = () => {
      listed.properties = {};
    };
    const changeBelow = () => {
      (listed.properties as Record<string, unknown>).count = {};
    };
    expect(change).toThrow(TypeError);
    expect(changeBelow).toThrow(TypeError);
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
