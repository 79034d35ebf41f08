import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRangeLength } from '../../../src/chain/rpc.ts';

const MOST = 10_000;

/** Reads so many blocks of an endpoint that takes so many at once. @returns the sizes of the ranges that were asked for */
function read(blocks: number, takes: (request: number) => number): number[] {
  const range = createRangeLength(MOST);
  const asked: number[] = [];
  for (let left = blocks; left > 0; ) {
    const size = range.size;
    asked.push(size);
    if (size > takes(asked.length)) {
      expect(range.onRejected(size), 'cannot be any shorter').toBe(true);
      continue;
    }
    left -= size;
    range.onAnswered(size);
  }
  return asked;
}

describe('createRangeLength', () => {
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

  it('keeps the length from before when one block is rejected, too: its length was not the reason', () => {
    const range = createRangeLength(10);
    expect([range.onRejected(10), range.size, range.onRejected(1), range.size]).toEqual([true, 1, false, 10]);
  });

  it('is not longer after short ranges, as those of a poll', () => {
    const range = createRangeLength(MOST);
    for (let size = MOST; size > 8; size = range.size) range.onRejected(size);
    const learnt = range.size;
    for (let polls = 0; polls < 1_000; polls += 1) range.onAnswered(1);
    expect(range.size).toBe(learnt);
  });
});
