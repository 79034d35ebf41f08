import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MESSAGE_LIMITS, parseMessage } from '../../../../../src/a2a/plan.ts';
import { dataPart, messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';

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
