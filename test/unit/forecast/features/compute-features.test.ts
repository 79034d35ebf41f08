import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { type ComputedFeatures, computeFeatures } from '../../../../src/forecast/features.ts';
import { FEATURE_NAMES, type FeatureTable, getLastDay, type InputFrame, sliceFrame } from '../../../../src/forecast/inputs.ts';
import { between } from '../../../support/record/arbitraries.ts';
import { describeGolden, readGolden, readGoldenFrame } from '../golden-frame.ts';
import { syntheticFrame } from '../synthetic-frame.ts';

type Compute = (frame: InputFrame) => FeatureTable;

/** Columns in which two tables differ, in any bit, among their common rows. */
function differences(a: FeatureTable, b: FeatureTable): string[] {
  const rows = Math.min(a.length, b.length);
  return FEATURE_NAMES.filter((name) => {
    for (let row = 0; row < rows; row++) if (!Object.is(a[name][row], b[name][row])) return true;
    return false;
  });
}

/** The leak test: features up to a day must not change when every input is cut at that day. */
function leaks(compute: Compute, frame: InputFrame, days: number[]): string[] {
  const whole = compute(frame);
  return days.flatMap((day) => differences(whole, compute(sliceFrame(frame, day))));
}

/** ETF flows with one day less lag. */
const impatient: Compute = (frame) =>
  computeFeatures({ ...frame, etfFlow: { days: frame.etfFlow.days.map((day) => day - 1), values: frame.etfFlow.values } });

/** The frame as it stood on a day, with another last price. */
function asOf(frame: InputFrame, day: number, lastPrice: number): InputFrame {
  const slice = sliceFrame(frame, day);
  const close = Float64Array.from(slice.close);
  close[close.length - 1] *= lastPrice;
  return { ...slice, close };
}

describe('computeFeatures', () => {
  const frame = syntheticFrame();
  const whole = computeFeatures(frame);

  it('keeps scores within [-1, 1] and never masks them', () => {
    for (const name of ['trend', 'momentum', 'flow', 'value', 'vol'] as const) {
      expect(whole[name].every((score) => Math.abs(score) <= 1)).toBe(true);
    }
  });

  it('scores 0 without input and masks the rest from the first row', () => {
    const { trend, momentum, flow, value, vol, z50, v99, drawdown } = whole;
    expect([trend[0], momentum[0], value[0], vol[0]]).toEqual([0, 0, 0, 0]);
    expect(flow[0]).toBe(Math.tanh((frame.pmi[0] - 50) / 5));
    expect([z50[0], v99[29]]).toEqual([Number.NaN, Number.NaN]);
    expect(v99[30]).toBeGreaterThan(0);
    expect(drawdown[0]).toBe(0);
  });

  it('leaves a masked input out of its category', () => {
    const bare = computeFeatures({ ...frame, fearGreed: frame.fearGreed.map(() => Number.NaN), gold: frame.gold.map(() => Number.NaN) });
    expect(bare.gz.every(Number.isNaN) && bare.fg7.every(Number.isNaN)).toBe(true);
    expect(bare.value[1400]).toBe(-Math.tanh(whole.mvz[1400] / 1.5));
  });

  it('uses an observation for seven days after its date', () => {
    const cut = frame.dxy.days.indexOf(parseDay('2018-03-02'));
    const dxy = { days: frame.dxy.days.subarray(0, cut + 1), values: frame.dxy.values.subarray(0, cut + 1) };
    const { dxz } = computeFeatures({ ...frame, dxy });
    const row = parseDay('2018-03-09') - frame.firstDay;
    expect(dxz[row]).toBe(dxz[row - 6]);
    expect(dxz[row]).not.toBeNaN();
    expect(dxz[row + 1]).toBeNaN();
  });

  it('accepts constant prices', () => {
    const still = computeFeatures({ ...frame, close: frame.close.map(() => 100), realizedPrice: frame.close.map(() => 100) });
    expect(new Set(still.trend)).toEqual(new Set([0]));
    expect(new Set(still.momentum)).toEqual(new Set([0]));
    expect(new Set(still.vol)).toEqual(new Set([0]));
  });

  it('is bit-identical for any earlier table', () => {
    const steps = fc.array(fc.record({ advance: fc.integer({ min: -2, max: 40 }), lastPrice: between(0.9, 1.1) }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1400 }), steps, (start, moves) => {
        let day = frame.firstDay + start;
        let earlier: ComputedFeatures | undefined;
        for (const { advance, lastPrice } of moves) {
          day = Math.min(getLastDay(frame), Math.max(frame.firstDay, day + advance));
          const current = asOf(frame, day, lastPrice);
          const table = computeFeatures(current, earlier);
          expect(table.length).toBe(current.close.length);
          expect(differences(table, computeFeatures(current))).toEqual([]);
          earlier = { frame: current, table };
        }
      }),
      { numRuns: 40, seed: 1 },
    );
  });

  it('detects revised observations and another first day', () => {
    const earlier = { frame, table: whole };
    const values = Float64Array.from(frame.etfFlow.values);
    values[10] += 1;
    const revised = { ...frame, etfFlow: { days: frame.etfFlow.days, values } };
    expect(differences(computeFeatures(revised, earlier), computeFeatures(revised))).toEqual([]);
    const shorter = { ...frame, etfFlow: { days: frame.etfFlow.days.subarray(0, 40), values: frame.etfFlow.values.subarray(0, 40) } };
    expect(differences(computeFeatures(shorter, earlier), computeFeatures(shorter))).toEqual([]);
    const moved = { ...frame, firstDay: frame.firstDay + 1 };
    expect(differences(computeFeatures(moved, earlier), computeFeatures(moved))).toEqual([]);
  });

  it('does not copy rows when they were computed from other inputs', () => {
    const other = syntheticFrame({ seed: 8 });
    expect(differences(computeFeatures(frame, { frame: other, table: computeFeatures(other) }), whole)).toEqual([]);
  });
});

describe('the leak test', () => {
  const frame = syntheticFrame();
  const days = Array.from({ length: 14 }, (_, index) => frame.firstDay + 1300 + index);

  it('finds none in the features', () => {
    expect(leaks(computeFeatures, frame, days)).toEqual([]);
  });

  it('finds ETF flows with one day less lag', () => {
    expect(new Set(leaks(impatient, frame, days))).toEqual(new Set(['flow', 'etf']));
  });
});

describeGolden('features on real history', () => {
  const frame = readGoldenFrame();
  const table = computeFeatures(frame);

  it('equal the reference within 1e-9', () => {
    const golden = readGolden<Record<string, Record<string, number | null>>>('features.json');
    expect(Object.keys(golden)).toHaveLength(13);
    for (const [date, values] of Object.entries(golden)) {
      for (const [name, expected] of Object.entries(values)) {
        const column = table[(name === 'dd' ? 'drawdown' : name) as keyof FeatureTable] as Float64Array;
        const actual = column[parseDay(date) - frame.firstDay];
        if (expected === null) expect(actual, `${name} of ${date}`).toBeNaN();
        else expect(Math.abs(actual - expected), `${name} of ${date}`).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
      }
    }
  });

  it('do not change when all inputs are cut', () => {
    const days = ['2013-05-05', '2018-02-06', '2020-03-12', '2024-03-15', '2024-12-26', '2026-08-13'].map(parseDay);
    expect(leaks(computeFeatures, frame, days)).toEqual([]);
    expect(leaks(impatient, frame, days)).toContain('etf');
  });

  it('are bit-identical one day at a time', () => {
    let earlier: ComputedFeatures | undefined;
    for (let day = getLastDay(frame) - 40; day <= getLastDay(frame); day++) {
      const current = asOf(frame, day, day === getLastDay(frame) ? 1 : 1.01);
      earlier = { frame: current, table: computeFeatures(current, earlier) };
    }
    expect(differences(earlier!.table, table)).toEqual([]);
  });
});
