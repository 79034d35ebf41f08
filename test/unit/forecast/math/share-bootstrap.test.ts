import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBootstrap, bootstrapShares, SHARE_RANGE } from '../../../../src/forecast/bootstrap.ts';

/** Members of a record, and for each of some columns which of them are held. */
const records = fc
  .tuple(fc.integer({ min: 0, max: 420 }), fc.integer({ min: 0, max: 11 }))
  .chain(([days, columns]) =>
    fc.tuple(
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: days, maxLength: days }),
      fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: days, maxLength: days }), { minLength: columns, maxLength: columns }),
    ),
  );

function bootstrapOneByOne(held: number[][], members: number[]) {
  return held.map((column) => blockBootstrap({ columns: [column, members], statistic: ([some, all]) => some / all, range: SHARE_RANGE }));
}

describe('the bootstrap of several shares', () => {
  it('gives each the interval of a bootstrap of its own, bit for bit', () => {
    fc.assert(
      fc.property(records, ([members, any]) => {
        const held = any.map((column) => column.map((flag, day) => flag * members[day]));
        expect(bootstrapShares(held, members)).toEqual(bootstrapOneByOne(held, members));
      }),
      { numRuns: 40 },
    );
  });

  it.each([1, 255, 256, 2_520, 4_066, 4_067, 8_192, 36_500])('counts %i days of ones exactly', (days) => {
    const ones = Array.from({ length: days }, () => 1);
    const none = ones.map(() => 0);
    const half = ones.map((_, day) => day % 2);
    const held = [ones, none, half, ones, half, none, ones, ones];
    expect(bootstrapShares(held, ones)).toEqual(bootstrapOneByOne(held, ones));
  });
});
