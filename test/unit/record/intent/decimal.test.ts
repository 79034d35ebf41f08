import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicros } from '../../../../src/record/trade-intent.ts';

describe('the decimal of an amount in micros', () => {
  it.each([
    [0, '0'],
    [1, '0.000001'],
    [-1, '-0.000001'],
    [1_000_000, '1'],
    [-1_250_000, '-1.25'],
    [199_360_000, '199.36'],
    [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
  ])('of %i is %s', (micros, text) => {
    expect(formatMicros(micros)).toBe(text);
  });

  it('is exact and has no trailing zeros', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (micros) => {
        const text = formatMicros(micros);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/);
        const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!;
        expect(BigInt(`${sign}${whole}${fraction.padEnd(6, '0')}`)).toBe(BigInt(micros));
      }),
    );
  });
});
