import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generateApiKey, hashApiKey, isApiKey, isWellFormedApiKey } from '../../../src/auth/api-keys.ts';

const keys = Array.from({ length: 50 }, generateApiKey);
const key = fc.constantFrom(...keys);

it('a generated key has its prefix, 43 digits and a valid checksum, and occurs once', () => {
  for (const one of keys) {
    expect(one).toMatch(/^bso_[0-9A-Za-z]{49}$/);
    expect([isApiKey(one), isWellFormedApiKey(one)]).toEqual([true, true]);
  }
  expect(new Set(keys).size).toBe(keys.length);
});

it('a key with one character changed is rejected', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-';
  fc.assert(
    fc.property(key, fc.nat({ max: 52 }), fc.constantFrom(...alphabet), (one, at, letter) => {
      fc.pre(one[at] !== letter);
      expect(isWellFormedApiKey(one.slice(0, at) + letter + one.slice(at + 1))).toBe(false);
    }),
  );
});

it('a key with two neighbours swapped is rejected', () => {
  fc.assert(
    fc.property(key, fc.integer({ min: 4, max: 51 }), (one, at) => {
      fc.pre(one[at] !== one[at + 1]);
      expect(isWellFormedApiKey(one.slice(0, at) + one[at + 1] + one[at] + one.slice(at + 2))).toBe(false);
    }),
  );
});

it('a key that is cut off, or longer than a key, is rejected', () => {
  fc.assert(fc.property(key, fc.nat({ max: 52 }), (one, length) => !isWellFormedApiKey(one.slice(0, length))));
  fc.assert(fc.property(key, fc.string({ minLength: 1 }), (one, more) => !isWellFormedApiKey(one + more)));
});

it('an access token is not taken for a key', () => {
  expect(isApiKey('eyJhbGciOiJFZERTQSJ9.e30.c2ln')).toBe(false);
});

it('the hash is the SHA-256 of the whole key', () => {
  // `printf bso_ | sha256sum`
  expect(hashApiKey('bso_')).toBe('4197b2b3cbab3391c6f56bb65b4c5f5d7f65ec043b4f88cca9e52a0217f1302d');
});
