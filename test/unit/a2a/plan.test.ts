import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildAgentCard } from '../../../agent-card/card.ts';
import { SKILLS } from '../../../skills/index.ts';
import { MESSAGE_LIMITS, parseMessage, planParts } from '../../../src/a2a/plan.ts';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { dataPart, messageOf, textPart } from '../../support/agent-clients/a2a.ts';
import { BASIC } from '../../support/service/skills.ts';

const { textBytes, dataBytes, metadataBytes, paymentBytes } = MESSAGE_LIMITS;
const refused = (field: string) => expect.objectContaining({ code: 'INPUT_INVALID', field });
const texts = (...all: string[]) => messageOf(all.map((text) => textPart(text)));
const withMetadata = (metadata: Record<string, unknown>) => messageOf([textPart('hm')], { metadata });

describe('message limits', () => {
  test.each(['a', 'ä', '\u0001', '"', '\u{1f511}'])('apply to the JSON of a text: %j', (character) => {
    const bytes = Buffer.byteLength(JSON.stringify(character)) - 2;
    const most = Math.floor(textBytes / bytes);
    expect(parseMessage(texts(character.repeat(most))).parts).toHaveLength(1);
    expect(() => parseMessage(texts(character.repeat(most + 1)))).toThrow(refused('message.parts'));
    expect(() => parseMessage(texts(character.repeat(most), character))).toThrow(refused('message.parts'));
  });

  test('apply to data of one or several parts', () => {
    const part = (length: number) => dataPart({ x: 'y'.repeat(length - '{"x":""}'.length) });
    expect(parseMessage(messageOf([part(dataBytes)])).parts).toHaveLength(1);
    for (const parts of [[part(dataBytes + 1)], [part(dataBytes / 2), part(dataBytes / 2 + 1)]]) {
      expect(() => parseMessage(messageOf(parts))).toThrow(refused('message.parts'));
    }
  });

  test('apply to stored metadata and ids', () => {
    const fitting = { m: '\u0001'.repeat((metadataBytes - 8) / 6) };
    expect(parseMessage(withMetadata(fitting)).metadata).toEqual(fitting);
    expect(() => parseMessage(withMetadata({ m: '\u0001'.repeat(metadataBytes / 6) }))).toThrow(refused('message.metadata'));
    expect(() => parseMessage({ ...texts('hm'), metadata: { m: 'x'.repeat(metadataBytes) } })).toThrow(refused('metadata'));
  });

  test('keep a message below 14 KB, whatever was sent', () => {
    const character = fc.constantFrom('a', '"', '\u0001', 'ä', '€', '\ud83d');
    const text = fc.array(character, { maxLength: 1_000, size: 'max' }).map((all) => all.join(''));
    const uris = fc.array(fc.string({ maxLength: 256 }), { maxLength: 20 });
    const any = fc.record({ texts: fc.array(text, { maxLength: 20, minLength: 1 }), data: text, metadata: text, uris });
    fc.assert(
      fc.property(any, (sent) => {
        const parts = [...sent.texts.map((one) => textPart(one)), dataPart({ x: sent.data })];
        try {
          const kept = parseMessage(messageOf(parts, { metadata: { m: sent.metadata }, extensions: sent.uris }));
          expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(14_000);
        } catch (error) {
          expect(error).toMatchObject({ code: 'INPUT_INVALID' });
        }
      }),
      { numRuns: 50 },
    );
  });

  test('apply to a payment separately', () => {
    const wrapped = JSON.stringify({ s: '' }).length;
    const paid = (length: number, more: object = {}) =>
      withMetadata({ 'x402.payment.payload': { s: 'f'.repeat(length - wrapped) }, ...more });
    expect(() => parseMessage(paid(paymentBytes, { m: 'x'.repeat(metadataBytes - 8) }))).not.toThrow();
    expect(() => parseMessage(paid(paymentBytes + 1))).toThrow(refused('message.metadata.x402.payment.payload'));
    expect(() => parseMessage(paid(10, { m: 'x'.repeat(metadataBytes) }))).toThrow(refused('message.metadata'));
    const nested = JSON.parse(`${'{"s":'.repeat(30)}1${'}'.repeat(30)}`);
    expect(() => parseMessage(withMetadata({ 'x402.payment.payload': nested }))).toThrow(refused('message.metadata.x402.payment.payload'));
  });

  test('parse-message drops unused members', () => {
    const sent = messageOf([{ ...textPart('hm'), metadata: { a: 1 }, filename: 'f' }], {
      extensions: ['urn:x'],
      referenceTaskIds: ['one'],
    });
    expect(parseMessage(sent)).toMatchObject({ extensions: [], referenceTaskIds: [], parts: [{ metadata: undefined, filename: '' }] });
  });
});
const CARD = buildAgentCard({
  publicUrl: 'http://127.0.0.1:3000',
  version: '0.0.0',
  chainId: 31337,
  registry: `0x${'1'.repeat(40)}`,
  agentId: 1,
  payments: { payee: `0x${'2'.repeat(40)}`, asset: `0x${'3'.repeat(40)}`, receiptSigner: `0x${'4'.repeat(40)}` },
});
const EXAMPLES = CARD.skills.flatMap(({ examples }) => examples);
const JSON_EXAMPLES = EXAMPLES.filter((example) => example.startsWith('{'));
const PAIRS = SKILLS.flatMap(({ id, examples }) => examples.map(({ say, input }) => [say, { skill: id, input }] as const));

/** Planned skill and parsed input of a message. */
function callOf(part: ReturnType<typeof textPart>, skill?: string) {
  const plan = planParts({ parts: [part] }, { caller: BASIC, skill });
  if (plan.do !== 'call') return expect.fail(`no call, but: ${plan.do}`);
  return { call: { skill: plan.call.skill.id, input: plan.call.input }, note: plan.note };
}

describe('the examples of the card', () => {
  test('are the sentences and calls of the skills', () => {
    expect(EXAMPLES).toEqual(PAIRS.flatMap(([say, call]) => [say, JSON.stringify(call)]));
  });

  test.each(JSON_EXAMPLES)('plan the same as text and as data part: %s', (example) => {
    const call = JSON.parse(example);
    const sent = callOf(dataPart(call));
    expect(sent.call.input).toMatchObject(call.input);
    expect(callOf(textPart(example))).toEqual(sent);
    expect(callOf(textPart(`\n  ${JSON.stringify(call, null, 2)}\n`), 'get_market_context')).toEqual(sent);
  });

  test.each(PAIRS)('plan a sentence as the input beside it: %s', (say, call) => {
    expect(callOf(textPart(say)).call).toEqual(callOf(dataPart(call)).call);
  });
});

describe('a call outside the tier', () => {
  const bill = { skill: 'predict_btc_direction', input: { horizon: '2d' } };
  const payment = { do: 'submit', payload: {}, ref: undefined } as const;
  const planned = (options: object, part = dataPart({ ...bill, input: {} })) => {
    const plan = planParts({ parts: [part] }, { caller: PUBLIC_CALLER, ...options });
    return [plan.do, 'call' in plan ? plan.call.input : undefined];
  };

  test('is rejected, quoted or sold, depending on the payment', () => {
    expect(planned({})).toEqual(['reject', { horizon: '7d', detail: 'basic' }]);
    expect(planned({ acceptsPaymentRequests: true })).toEqual(['bill', { horizon: '7d', detail: 'basic' }]);
    expect(planned({ payment })).toEqual(['sell', { horizon: '7d', detail: 'basic' }]);
    expect(planned({ payment, acceptsPaymentRequests: true, caller: BASIC })).toEqual(['call', { horizon: '7d', detail: 'basic' }]);
  });

  test('uses the quoted call, whatever parts come with the payment', () => {
    const said = textPart('Here is the payment authorization for the track record.');
    expect(planned({ payableCall: bill, payment }, said)).toEqual(['sell', { horizon: '2d', detail: 'basic' }]);
    expect(planned({ payableCall: bill, payment, caller: BASIC }, said)).toEqual(['call', { horizon: '2d', detail: 'basic' }]);
    expect(planned({ payableCall: bill, payment: { do: 'decline' } }, said)).toEqual(['decline', undefined]);
    expect(planned({ payableCall: bill }, textPart('the bitcoin price'))[0]).toBe('call');
    expect(planned({ payment: { do: 'decline' } }, textPart('the bitcoin price'))[0]).toBe('call');
  });
});

describe('a call as text', () => {
  test.each([
    ['an input that is wrong', '{"skill":"get_market_context","input":{"include":["x"]}}', 'include.0'],
    ['a skill that is not there', '{"skill":"nope"}', 'skill'],
    ['a field that a call does not have', '{"skill":"get_market_context","args":{}}', 'args'],
  ])('is rejected like the data part for %s', (_what, text, field) => {
    expect(() => planParts({ parts: [textPart(text)] }, { caller: BASIC })).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID', field }),
    );
  });

  test.each(['{"skill":7,"question":"bitcoin price"}', '["get_market_context"]', '"bitcoin price"', '{bitcoin price'])(
    'that is invalid is parsed as plain text: %s',
    (text) => {
      expect(callOf(textPart(text)).call.skill).toBe('get_market_context');
    },
  );

  test('counts as one call beside other text, and two of them are rejected', () => {
    const written = textPart('{"skill":"get_track_record","input":{"status":"LOSS"}}');
    const plan = planParts({ parts: [textPart('Please do this for me:'), written] }, { caller: BASIC });
    expect(plan).toMatchObject({ do: 'call', call: { skill: { id: 'get_track_record' }, input: { status: 'LOSS' } } });
    expect(() => planParts({ parts: [written, dataPart({ skill: 'get_market_context' })] }, { caller: BASIC })).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID', field: 'message.parts.1' }),
    );
  });

  test('outside the tier has a parse note only for plain text', () => {
    const plan = (text: string) => planParts({ parts: [textPart(text)] }, { caller: PUBLIC_CALLER });
    const understood = 'Understood as predict_btc_direction. To ask exactly this, send a data part {"skill":"predict_btc_direction",';
    expect(plan('forecast for 2 days')).toMatchObject({ do: 'reject', note: expect.stringContaining(understood) });
    expect(plan('{"skill":"predict_btc_direction"}')).not.toHaveProperty('note');
  });
});
