import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../../src/forecast/inputs.ts';
import { computeInputsDigest, computeRangesDigest, createEtfFlowFilter } from '../../../src/market/inputs.ts';
import { sliceKnownAt } from '../../../src/market/series.ts';
import { buildObservations } from './memory-feed.ts';

const flows = buildObservations('etfFlow', [
  [100, 5],
  [101, 0],
  [102, -3],
  [103, 8],
]);
const sp500 = buildObservations('sp500', [
  [100, 1],
  [102, 1],
]);

describe('createEtfFlowFilter', () => {
  it('drops flows of exchange holidays', () => {
    const kept = createEtfFlowFilter().update(flows, sp500);
    expect([...kept.days]).toEqual([100, 102]);
    expect([...kept.values]).toEqual([5, -3]);
  });

  it('delays a flow until the S&P 500 of its day is known', () => {
    const flowDays = createEtfFlowFilter();
    flowDays.update(flows, sp500);
    const later = buildObservations('sp500', [
      [100, 1],
      [102, 1],
      [103, 1],
    ]);
    later.availableAt[2] = 9e15;
    const kept = flowDays.update(flows, later);
    expect([...kept.days]).toEqual([100, 102, 103]);
    expect(kept.availableAt[2]).toBe(9e15);
  });

  it('returns the same result incrementally and at once', () => {
    const stepwise = createEtfFlowFilter();
    for (const atMs of flows.availableAt) stepwise.update(sliceKnownAt(flows, atMs), sliceKnownAt(sp500, atMs));
    expect(stepwise.update(flows, sp500)).toEqual(createEtfFlowFilter().update(flows, sp500));
  });

  it('keeps nothing without S&P 500 observations', () => {
    expect(createEtfFlowFilter().update(flows, buildObservations('sp500', [])).days).toHaveLength(0);
  });
});
const FIRST_DAY = 15_000;
const ROWS = 6;
const LAST_DAY = FIRST_DAY + ROWS - 1;

const value = fc.oneof(
  { weight: 4, arbitrary: fc.double({ noDefaultInfinity: true, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
);
const column = fc.array(value, { minLength: ROWS, maxLength: ROWS }).map((values) => Float64Array.from(values));
const business = fc.uniqueArray(fc.integer({ min: FIRST_DAY - 9, max: LAST_DAY - 1 }), { minLength: 1 }).chain((days) =>
  fc.array(value, { minLength: days.length, maxLength: days.length }).map((values) => ({
    days: Int32Array.from(days.toSorted((a, b) => a - b)),
    values: Float64Array.from(values),
  })),
);
const frame: fc.Arbitrary<InputFrame> = fc.record({
  firstDay: fc.constant(FIRST_DAY),
  close: column,
  fearGreed: column,
  realizedPrice: column,
  takerBuyFraction: column,
  fundingRate: column,
  gold: column,
  pmi: column,
  high: column,
  low: column,
  etfFlow: business,
  sp500: business,
  dxy: business,
});
const rangeColumn = fc.constantFrom('high' as const, 'low' as const);
const dailyColumn = fc.constantFrom(...DAILY_COLUMNS.filter((name) => name !== 'high' && name !== 'low'));
const businessColumn = fc.constantFrom(...BUSINESS_DAY_COLUMNS);
const differs = (a: number, b: number) => !(a === b || (Number.isNaN(a) && Number.isNaN(b)));

/** The docstring's recipe, written another way. */
function recomputeDigest(frame: InputFrame): string {
  const number = (x: number) => {
    const bytes = Buffer.alloc(8);
    if (Number.isNaN(x)) return Buffer.from('7ff8000000000000', 'hex');
    bytes.writeDoubleBE(x === 0 ? 0 : x);
    return bytes;
  };
  const int = (x: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(x);
    return bytes;
  };
  const chunks = [Buffer.from('oracle-inputs-1\n'), int(frame.firstDay), int(frame.close.length)];
  for (const name of ['close', 'fearGreed', 'realizedPrice', 'takerBuyFraction', 'fundingRate', 'gold', 'pmi'] as const) {
    chunks.push(...Array.from(frame[name], number));
  }
  for (const name of ['etfFlow', 'sp500', 'dxy'] as const) {
    const days = Array.from(frame[name].days).filter((day) => day <= frame.firstDay + frame.close.length - 2);
    chunks.push(int(days.length), ...days.map(int), ...days.map((_, index) => number(frame[name].values[index])));
  }
  return `0x${createHash('sha256').update(Buffer.concat(chunks)).digest('hex')}`;
}

describe('computeInputsDigest', () => {
  it('equals the documented encoding', () => {
    fc.assert(
      fc.property(frame, (input) => {
        expect(computeInputsDigest(input)).toBe(recomputeDigest(input));
      }),
    );
  });

  it('equals a digest computed by an independent implementation', () => {
    const filled = (x: number) => Float64Array.of(x, Number.NaN);
    const series = { days: Int32Array.of(14_999, 15_000, 15_001), values: Float64Array.of(1.5, -0, 9) };
    const input: InputFrame = {
      firstDay: 15_000,
      close: Float64Array.of(5.25, 6),
      fearGreed: filled(40),
      realizedPrice: filled(4.75),
      takerBuyFraction: filled(0.5),
      fundingRate: filled(0.0001),
      gold: filled(1700.5),
      pmi: filled(52.7),
      high: filled(7),
      low: filled(5),
      etfFlow: series,
      sp500: series,
      dxy: { days: new Int32Array(), values: new Float64Array() },
    };
    expect(computeInputsDigest(input)).toBe('0xc29c76ddfc028b04ca782f2592ab8875e3c53d3747803e1e4f8400ae858412d2');
  });

  it('changes with any single daily value or mask', () => {
    const property = fc.property(frame, dailyColumn, fc.nat(ROWS - 1), value, (input, name, row, other) => {
      fc.pre(differs(input[name][row], other));
      const changed = { ...input, [name]: input[name].with(row, other) };
      expect(computeInputsDigest(changed)).not.toBe(computeInputsDigest(input));
    });
    fc.assert(property);
  });

  it('leaves highs and lows to a digest of their own', () => {
    const property = fc.property(frame, rangeColumn, fc.nat(ROWS - 1), value, (input, name, row, other) => {
      fc.pre(differs(input[name][row], other));
      const changed = { ...input, [name]: input[name].with(row, other) };
      expect(computeInputsDigest(changed)).toBe(computeInputsDigest(input));
      expect(computeRangesDigest(changed)).not.toBe(computeRangesDigest(input));
    });
    fc.assert(property);
    const parts = [Buffer.from('oracle-ranges-1\n'), Buffer.alloc(8), Buffer.alloc(16)];
    parts[1]!.writeInt32BE(15_000);
    parts[1]!.writeUInt32BE(1, 4);
    parts[2]!.writeDoubleBE(7);
    parts[2]!.writeDoubleBE(5, 8);
    const expected = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
    expect(computeRangesDigest({ firstDay: 15_000, high: Float64Array.of(7), low: Float64Array.of(5) })).toBe(`0x${expected}`);
  });

  it('changes with any single business-day value or date', () => {
    const property = fc.property(frame, businessColumn, fc.nat(), value, (input, name, pick, other) => {
      const { days, values } = input[name];
      const index = pick % days.length;
      fc.pre(differs(values[index], other));
      expect(computeInputsDigest({ ...input, [name]: { days, values: values.with(index, other) } })).not.toBe(computeInputsDigest(input));
      const moved = { days: days.with(0, days[0] - 1), values };
      expect(computeInputsDigest({ ...input, [name]: moved })).not.toBe(computeInputsDigest(input));
    });
    fc.assert(property);
  });

  it('changes when the days shift or a row is missing', () => {
    fc.assert(
      fc.property(frame, (input) => {
        expect(computeInputsDigest({ ...input, firstDay: FIRST_DAY + 1 })).not.toBe(computeInputsDigest(input));
        const shorter = Object.fromEntries(DAILY_COLUMNS.map((name) => [name, input[name].subarray(0, ROWS - 1)]));
        expect(computeInputsDigest({ ...input, ...shorter })).not.toBe(computeInputsDigest(input));
      }),
    );
  });

  it('ignores business-day observations of the last day or later', () => {
    const property = fc.property(frame, businessColumn, fc.nat(5), value, (input, name, later, other) => {
      const days = Int32Array.of(...input[name].days, LAST_DAY + later);
      const values = Float64Array.of(...input[name].values, other);
      expect(computeInputsDigest({ ...input, [name]: { days, values } })).toBe(computeInputsDigest(input));
    });
    fc.assert(property);
  });

  it('is the same for every bit pattern of a masked value', () => {
    const odd = new Float64Array(new BigUint64Array([0xfff8000000000001n]).buffer)[0];
    fc.assert(
      fc.property(frame, (input) => {
        const masked = { ...input, gold: input.gold.with(2, Number.NaN) };
        const otherwise = { ...input, gold: input.gold.with(2, odd) };
        expect(computeInputsDigest(otherwise)).toBe(computeInputsDigest(masked));
      }),
    );
  });
});
