import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

const compared = vi.hoisted(() => [] as number[][]);

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    compared.push([a.byteLength, b.byteLength]);
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, timingSafeEqual };
});

// Another suite of this process may have loaded it with the platform's own function.
vi.resetModules();
const { createCredentialCheck } = await import('../../../../../src/http/admin.ts');

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const isRight = createCredentialCheck({ user: 'operator', password: 'a:long password ü' });

describe('HTTP Basic credentials', () => {
  it.each([basic('operator:a:long password ü'), basic('operator:a:long password ü').replace('Basic', 'basic')])(
    'are accepted: %s',
    (header) => {
      expect(isRight(header)).toBe(true);
    },
  );

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['a wrong user', basic('operators:a:long password ü')],
    ['a wrong password', basic('operator:a:long password')],
    ['a longer password', basic('operator:a:long password ü ')],
    ['an empty password', basic('operator:')],
    ['no password', basic('operator')],
    ['an empty user', basic(':a:long password ü')],
    ['neither', basic(':')],
    ['both, swapped', basic('a:long password ü:operator')],
    ['another spelling of the user', basic('Operator:a:long password ü')],
    ['another encoding', `Basic ${Buffer.from('operator:a:long password ü', 'latin1').toString('base64')}`],
    ['another scheme', basic('operator:a:long password ü').replace('Basic', 'Bearer')],
    ['no encoding', 'Basic operator:a:long password ü'],
    ['something behind it', `${basic('operator:a:long password ü')} x`],
  ])('are rejected after a full comparison of both parts: %s', (_, header) => {
    compared.length = 0;
    expect(isRight(header)).toBe(false);
    expect(compared).toEqual([
      [32, 32],
      [32, 32],
    ]);
  });

  it('are valid for exactly the configured pair', () => {
    const user = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !text.includes(':'));
    const password = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(user, password, user, password, (ourUser, ourPassword, theirUser, theirPassword) => {
        const check = createCredentialCheck({ user: ourUser, password: ourPassword });
        expect(check(basic(`${ourUser}:${ourPassword}`))).toBe(true);
        expect(check(basic(`${theirUser}:${theirPassword}`))).toBe(ourUser === theirUser && ourPassword === theirPassword);
      }),
    );
  });
});
