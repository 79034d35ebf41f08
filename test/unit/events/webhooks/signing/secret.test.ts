import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OracleError } from '../../../../../src/errors.ts';
import { generateSecret, toSigningKey, toVerificationKey } from '../../../../../src/events/webhooks/signing.ts';

function suggestionFor(secret: string): string {
  try {
    toSigningKey(secret);
  } catch (error) {
    return String((error as OracleError).details!.suggestion);
  }
  throw new Error('it was accepted');
}

const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'secret' });

describe('the secret of a webhook', () => {
  it('is made of 32 random bytes, as Standard Webhooks writes them', () => {
    const secrets = Array.from({ length: 50 }, generateSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(toSigningKey(secret)).toHaveLength(32);
    }
  });

  it('stands for the bytes that its base64 stands for, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), (bytes) => {
        const base64 = Buffer.from(bytes).toString('base64');
        expect(toSigningKey(`whsec_${base64}`)).toEqual(Buffer.from(bytes));
        expect(toSigningKey(`whsec_${base64.replace(/=+$/, '')}`)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('is its own key when it is any other text', () => {
    expect(toSigningKey('a shared secret, long enough')).toEqual(Buffer.from('a shared secret, long enough'));
    expect(toSigningKey('ä'.repeat(8))).toHaveLength(16);
  });

  it('has a key that stock libraries verify with, whatever its form', () => {
    const key = Buffer.alloc(32, 0xfb);
    const base64 = key.toString('base64');
    const forms = [`whsec_${base64}`, `whsec_${base64.replace('=', '')}`, base64, key.toString('hex'), `v1,whsec_${base64}`, 'ä'.repeat(8)];
    for (const secret of forms) {
      const isPrefixed = secret.startsWith('whsec_');
      expect(toVerificationKey(secret)).toBe(`whsec_${isPrefixed ? base64 : Buffer.from(secret).toString('base64')}`);
    }
  });

  it.each([
    ['nothing', ''],
    ['short text', 'x'.repeat(15)],
    ['a short key', `whsec_${Buffer.alloc(15, 1).toString('base64')}`],
    ['no base64', `whsec_${'!'.repeat(40)}`],
    ['base64 with a space', `whsec_ ${Buffer.alloc(32, 1).toString('base64')}`],
    ['base64 of the URL alphabet', `whsec_${Buffer.alloc(33, 0xfb).toString('base64url')}`],
    ['base64 with stray bits', `whsec_${'A'.repeat(41)}B`],
    ['too much padding', `whsec_${Buffer.alloc(32, 1).toString('base64')}==`],
    ['a line break', `${'x'.repeat(30)}\n`],
    ['half a character', `${'x'.repeat(30)}\ud800`],
    ['too long a text', 'x'.repeat(257)],
  ])('is rejected as %s, and not repeated', (_, secret) => {
    expect(() => toSigningKey(secret)).toThrow(refused);
    if (secret !== '') expect(() => toSigningKey(secret)).not.toThrow(secret);
    const [one, other] = [suggestionFor(secret), suggestionFor(secret)];
    expect(toSigningKey(one)).toHaveLength(32);
    expect(one).not.toBe(other);
  });
});
