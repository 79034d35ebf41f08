import { expect, it } from 'vitest';
import { formatRecordLine, judgeRecord } from '../../../../src/page/first-screen.ts';
import { RECORD } from './fixtures.ts';

const NONE = { ...RECORD, resolved: 0, wins: 0, accuracy: 0, accuracyInterval95: null, alwaysUpAccuracy: null, difference: null };

it('shows the accuracy with its interval beside always UP', () => {
  expect(formatRecordLine(RECORD)).toBe('53\u00a0% right (41–65); always UP 52\u00a0%: no edge');
});

it('says no edge only where the interval of the difference contains zero', () => {
  const of = (low: number | null, high: number | null) => judgeRecord({ ...RECORD, difference: { value: 0.1, low, high } });
  expect([of(-0.1, 0.1), of(0, 0.1), of(0.01, 0.1), of(-0.2, -0.01)]).toEqual(['no edge', 'no edge', 'better', 'worse']);
});

it('falls back on the interval of the accuracy where the difference has none', () => {
  const difference = { value: 0, low: null, high: null };
  expect(judgeRecord({ ...RECORD, difference })).toBe('no edge');
  expect(judgeRecord({ ...RECORD, difference, alwaysUpAccuracy: 0.7 })).toBe('too few to say');
  expect(judgeRecord({ ...RECORD, difference: null, accuracyInterval95: null })).toBe('too few to say');
});

it('shows no share before the first call is resolved, and none of few windows', () => {
  expect(formatRecordLine({ ...NONE, holds: 0 })).toBe('No outcome yet');
  expect(formatRecordLine({ ...NONE, holds: 3 })).toBe('No call yet: all 3 outcomes were HOLD');
  expect(formatRecordLine({ ...RECORD, resolved: 6, wins: 5, dedupedTotal: 2 })).toBe('5 of 6 right: too few to say');
});
