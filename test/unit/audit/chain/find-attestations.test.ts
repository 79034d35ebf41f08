import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBlockRange } from '../../../../src/audit/chain/find-attestations.ts';

const MOST = 10_000;

/** Reads so many blocks of an endpoint that takes so many at once. @returns the sizes of the ranges that were asked for */
function read(blocks: number, takes: (request: number) => number): number[] {
  const range = createBlockRange(MOST);
  const asked: number[] = [];
  for (let left = blocks; left > 0; ) {
    asked.push(range.size);
    if (range.size > takes(asked.length)) {
      expect(range.onRejected(), 'cannot be any shorter').toBe(true);
      continue;
    }
    left -= range.size;
    range.onAnswered();
  }
  return asked;
}

describe('createBlockRange', () => {
  it('adapts to any endpoint limit with few rejections', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 100_000 }), (limit, blocks) => {
        const asked = read(Math.min(blocks, limit * 500), () => limit);
        const refused = asked.filter((size) => size > limit).length;
        expect(Math.max(...asked)).toBeLessThanOrEqual(MOST);
        expect(Math.min(...asked)).toBeGreaterThanOrEqual(1);
        // Those until it fits, those while it learns to be patient, and one now and then.
        expect(refused).toBeLessThanOrEqual(12 + asked.length / 32);
        // Never less than a twentieth of what it takes, once it fits.
        expect(asked.length - refused).toBeLessThanOrEqual(2 + (20 * blocks) / Math.min(limit, MOST));
      }),
    );
  });

  it('grows again after a transient overload', () => {
    const asked = read(100_000, (request) => (request <= 3 ? 0 : MOST));
    expect(asked.slice(0, 8)).toEqual([10_000, 1_250, 156, 19, 38, 76, 152, 152]);
    expect(asked.at(-1)).toBe(MOST);
  });

  it('returns false when one block is rejected', () => {
    const range = createBlockRange(10);
    expect([range.onRejected(), range.size, range.onRejected()]).toEqual([true, 1, false]);
  });
});
