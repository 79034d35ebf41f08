import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { formatModelVersion, getBlockIndex, getBlockStart, getTrainingEnd } from '../../../src/forecast/model.ts';

describe('the block calendar', () => {
  it.each([
    [-6, '2014-04-19'],
    [-1, '2016-10-05'],
    [0, '2017-04-03'],
    [1, '2017-09-30'],
    [18, '2026-02-15'],
    [19, '2026-08-14'],
  ])('starts block %d on %s', (block, date) => {
    expect(formatDay(getBlockStart(block))).toBe(date);
    expect(getBlockIndex(parseDay(date))).toBe(block);
    expect(getBlockIndex(parseDay(date) - 1)).toBe(block - 1);
    expect(formatModelVersion(block)).toBe(`m0-d1.${date}`);
  });

  it('ends training a horizon and a week before the block', () => {
    expect(formatDay(getTrainingEnd(0, 2))).toBe('2017-03-25');
    expect(formatDay(getTrainingEnd(0, 7))).toBe('2017-03-20');
  });
});
