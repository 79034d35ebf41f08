import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeDistributionDigest,
  DISTRIBUTION_SIZE,
  type DistributionOpening,
  fromQuantilesMicro,
  toQuantilesMicro,
} from '../../../../src/chain/eas/schemas.ts';

const quantiles = fc
  .array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: DISTRIBUTION_SIZE, maxLength: DISTRIBUTION_SIZE })
  .map((values) => values.toSorted((a, b) => a - b));
const opening: fc.Arbitrary<DistributionOpening> = fc.record({
  predictionId: fc.constant('2026-11-23:2d'),
  modelVersion: fc.constantFrom('m1.2026-08-14', 'm0-d1.2026-08-14'),
  salt: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
  quantilesMicro: quantiles.map(toQuantilesMicro),
});

/** The docstring's recipe, written another way. */
function recompute({ predictionId, modelVersion, salt, quantilesMicro }: DistributionOpening): string {
  const numbers = quantilesMicro.map((value) => (value >>> 0).toString(16).padStart(8, '0')).join('');
  const head = Buffer.from(`oracle-quantiles-1\n${predictionId} ${modelVersion}\n`, 'ascii');
  return `0x${createHash('sha256')
    .update(Buffer.concat([head, Buffer.from(salt.slice(2) + numbers, 'hex')]))
    .digest('hex')}`;
}

describe('the digest of a distribution', () => {
  it('equals the documented encoding', () => {
    fc.assert(
      fc.property(opening, (one) => {
        expect(computeDistributionDigest(one)).toBe(recompute(one));
      }),
    );
  });

  it('changes with every part of the opening', () => {
    fc.assert(
      fc.property(opening, fc.nat(DISTRIBUTION_SIZE - 1), (one, index) => {
        const moved = one.quantilesMicro.map((value, at) => (at >= index ? value + 1 : value));
        const salt = `0x${one.salt.slice(4)}${one.salt.slice(2, 4)}` as const;
        const others = [
          { quantilesMicro: moved },
          { predictionId: '2026-11-23:3d' },
          { modelVersion: 'm1.2026-02-15' },
          ...(salt === one.salt ? [] : [{ salt }]),
        ];
        for (const other of others) expect(computeDistributionDigest({ ...one, ...other })).not.toBe(computeDistributionDigest(one));
      }),
    );
  });

  it('covers the quantiles to half a millionth', () => {
    fc.assert(
      fc.property(quantiles, (values) => {
        const back = fromQuantilesMicro(toQuantilesMicro(values));
        for (const [index, value] of values.entries()) expect(Math.abs(back[index]! - value)).toBeLessThanOrEqual(0.5e-6 + 1e-12);
      }),
    );
  });

  const valid = { predictionId: '2026-11-23:2d', modelVersion: 'm1.2026-08-14', salt: `0x${'ab'.repeat(32)}` as const };
  it.each([
    ['too few', Array(198).fill(0)],
    ['a fraction', [...Array(198).fill(0), 0.5]],
    ['a descent', [1, ...Array(198).fill(0)]],
    ['a number beyond 32 bits', [...Array(198).fill(0), 2 ** 31]],
  ])('refuses %s', (_, quantilesMicro: number[]) => {
    expect(() => computeDistributionDigest({ ...valid, quantilesMicro })).toThrow(expect.objectContaining({ field: 'quantilesMicro' }));
  });
});
