import { describe, expect, it } from 'vitest';
import { isOracleError, type OracleError } from '../../../src/errors.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { getLastDay, type InputFrame, MIN_HISTORY_DAYS, sliceFrame, validateFrame } from '../../../src/forecast/inputs.ts';
import { describeGolden, readGoldenFrame } from './golden-frame.ts';
import { syntheticFrame } from './synthetic-frame.ts';

const FIRST = parseDay('2015-01-01');

function errorOf(frame: InputFrame): OracleError {
  try {
    validateFrame(frame);
  } catch (error) {
    if (isOracleError(error)) return error;
    throw error;
  }
  throw new Error('the frame was accepted');
}

function withValue(frame: InputFrame, column: 'close' | 'gold' | 'pmi' | 'realizedPrice', row: number, value: number): InputFrame {
  const values = Float64Array.from(frame[column]);
  values[row] = value;
  return { ...frame, [column]: values };
}

describe('validateFrame', () => {
  const frame = syntheticFrame({ rows: 400 });

  it('accepts masked inputs and the shortest history', () => {
    expect(() => validateFrame(frame)).not.toThrow();
    expect(() => validateFrame(sliceFrame(frame, FIRST + MIN_HISTORY_DAYS - 1))).not.toThrow();
  });

  it('reports the number of days', () => {
    const error = errorOf(sliceFrame(frame, FIRST + MIN_HISTORY_DAYS - 2));
    expect(error.code).toBe('HISTORY_TOO_SHORT');
    expect(error.message).toBe('a forecast needs at least 210 days of closes, there are 209');
  });

  it.each([
    ['zero', 0, 'close is 0 on 2015-04-11: it must be above 0'],
    ['negative', -37.63, 'close is -37.63 on 2015-04-11: it must be above 0'],
    ['a gap', Number.NaN, 'close is NaN on 2015-04-11'],
    ['infinite', Number.POSITIVE_INFINITY, 'close is Infinity on 2015-04-11'],
  ])('rejects a close that is %s', (_, value, message) => {
    const error = errorOf(withValue(frame, 'close', 100, value));
    expect(error).toMatchObject({ code: 'INPUT_INVALID', field: 'close', message });
  });

  it.each(['gold', 'realizedPrice', 'pmi'] as const)('rejects an infinite %s', (column) => {
    expect(errorOf(withValue(frame, column, 3, Number.NEGATIVE_INFINITY))).toMatchObject({ code: 'INPUT_INVALID', field: column });
  });

  it('rejects prices of other assets that have no logarithm', () => {
    expect(errorOf(withValue(frame, 'gold', 3, 0)).message).toBe('gold is 0 on 2015-01-04: it must be above 0');
    const sp500 = { days: frame.sp500.days, values: Float64Array.from(frame.sp500.values).fill(-1, 1, 2) };
    expect(errorOf({ ...frame, sp500 }).message).toBe('sp500 is -1 on 2015-01-02: it must be above 0');
  });

  it('accepts negative flows but no masked observation', () => {
    const days = Int32Array.of(FIRST, FIRST + 1);
    expect(() => validateFrame({ ...frame, etfFlow: { days, values: Float64Array.of(-12, 0) } })).not.toThrow();
    const error = errorOf({ ...frame, etfFlow: { days, values: Float64Array.of(-12, Number.NaN) } });
    expect(error).toMatchObject({ code: 'INPUT_INVALID', field: 'etfFlow', message: 'etfFlow is NaN on 2015-01-02' });
  });

  it('rejects columns of unequal length', () => {
    expect(errorOf({ ...frame, pmi: frame.pmi.subarray(1) }).message).toBe('pmi has 399 rows, close has 400');
    const dxy = { ...frame.dxy, values: frame.dxy.values.subarray(1) };
    expect(errorOf({ ...frame, dxy })).toMatchObject({ code: 'INPUT_INVALID', field: 'dxy' });
  });

  it.each([
    ['duplicate', [0, 1, 1]],
    ['descending', [0, 2, 1]],
  ])('rejects %s business days', (_, offsets) => {
    const days = Int32Array.from(offsets, (offset) => FIRST + offset);
    const error = errorOf({ ...frame, dxy: { days, values: Float64Array.of(1, 2, 3) } });
    expect(error).toMatchObject({ code: 'INPUT_INVALID', field: 'dxy' });
    expect(error.message).toMatch(/^dxy has 2015-01-02 after 2015-01-0[23]: dates must strictly ascend$/);
  });
});

describe('sliceFrame', () => {
  const frame = syntheticFrame({ rows: 400 });

  it('keeps daily rows to the day as views and observations to the day before', () => {
    const day = FIRST + 250;
    const slice = sliceFrame(frame, day);
    expect(getLastDay(slice)).toBe(day);
    expect(slice.close.buffer).toBe(frame.close.buffer);
    expect(slice.pmi).toHaveLength(251);
    expect(slice.sp500.days.at(-1)).toBe(day - 1);
    expect(slice.sp500.values).toHaveLength(slice.sp500.days.length);
    expect(slice.etfFlow.days).toHaveLength(0);
  });

  it('rejects days outside the frame', () => {
    expect(() => sliceFrame(frame, FIRST - 1)).toThrow('2014-12-31 is outside the frame of 2015-01-01 to 2016-02-04');
    expect(() => sliceFrame(frame, FIRST + 400)).toThrow('2016-02-05 is outside the frame');
  });
});

describeGolden('the reference frame', () => {
  it('is valid', () => {
    expect(() => validateFrame(readGoldenFrame())).not.toThrow();
  });
});
