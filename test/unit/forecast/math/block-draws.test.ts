import { describe, expect, it } from 'vitest';
import { drawBlocks } from '../../../../src/forecast/bootstrap.ts';

const DRAW = { days: 100, blockDays: 30, seed: 1, resamples: 50 };

describe('drawBlocks', () => {
  it('covers the days with blocks that start on one of them', () => {
    const starts = drawBlocks(DRAW);
    expect(starts.map((block) => block.length)).toEqual([50, 50, 50, 50]);
    expect(starts.flatMap((block) => [...block]).every((start) => start >= 0 && start < 100)).toBe(true);
  });

  it('depends on every one of its numbers, and on nothing else', () => {
    const first = drawBlocks(DRAW);
    const others = [{ days: 101 }, { blockDays: 10 }, { seed: 2 }, { resamples: 51 }].map((change) => drawBlocks({ ...DRAW, ...change }));
    for (const other of others) expect(other).not.toEqual(first);
    const again = drawBlocks({ ...DRAW });
    expect(again).toEqual(first);
    expect(drawBlocks({ ...DRAW })).toBe(again);
  });
});
