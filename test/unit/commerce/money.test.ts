import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAmount, formatMoney, parseAmount, parseUsd, usdFromMicros } from '../../../src/commerce/offerings.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
const decimals = fc.integer({ min: 0, max: 18 });
const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'amount' });

describe('money', () => {
  it('round-trips text of any size and number of decimals', () => {
    fc.assert(
      fc.property(amount, decimals, fc.integer({ min: 0, max: 18 }), (value, places, fewest) => {
        const text = formatAmount({ asset: 'X', amount: value, decimals: places }, Math.min(fewest, places));
        expect(parseAmount(text, places)).toBe(value);
      }),
    );
  });

  it('is formatted by shifting the decimal point', () => {
    fc.assert(
      fc.property(amount, decimals, (value, places) => {
        const [whole = '', fraction = ''] = formatAmount({ asset: 'X', amount: value, decimals: places }, places).split('.');
        expect(fraction).toHaveLength(places);
        expect(BigInt(whole) * 10n ** BigInt(places) + BigInt(fraction || '0')).toBe(value);
      }),
    );
  });

  it('rejects more decimals than the asset has', () => {
    fc.assert(
      fc.property(decimals, fc.integer({ min: 1, max: 6 }), (places, more) => {
        expect(() => parseAmount(`1.${'0'.repeat(places + more)}`, places)).toThrow(refused);
      }),
    );
  });

  it.each(['', '.', '1.', '.5', '-1', '+1', '1e3', '0x10', '1,5', ' 1', '1 ', '١', 'NaN', '1.2.3', '9'.repeat(41)])(
    'rejects %j',
    (text) => {
      expect(() => parseAmount(text, 6)).toThrow(refused);
    },
  );

  it('is never rounded like a float', () => {
    expect(parseUsd('0.1').amount + parseUsd('0.2').amount).toBe(parseUsd('0.3').amount);
    expect(formatAmount(usdFromMicros(9_007_199_254_740_993n))).toBe('9007199254.740993');
  });

  it.each([
    [1_000_000n, '1.00 USD'],
    [1_000n, '0.001 USD'],
    [0n, '0.00 USD'],
    [1_234_500n, '1.2345 USD'],
  ])('shows %s millionths as %s', (amountMicros, shown) => {
    expect(formatMoney(usdFromMicros(amountMicros))).toBe(shown);
  });
});
