import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOracleError, type OracleError } from '../../../src/errors.ts';
import { type Day, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { type ComputedFeatures, computeFeatures } from '../../../src/forecast/features.ts';
import {
  BUSINESS_DAY_COLUMNS,
  DAILY_COLUMNS,
  FEATURE_NAMES,
  type FeatureTable,
  getLastDay,
  type InputFrame,
  MIN_HISTORY_DAYS,
  sliceFrame,
  validateFrame,
} from '../../../src/forecast/inputs.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { createFrameHistory, type FrameObservations } from '../../../src/market/inputs.ts';
import { sliceKnownAt } from '../../../src/market/series.ts';
import { between } from '../../support/record/arbitraries.ts';
import { buildDailyPairs, buildFrameObservations, buildObservations } from '../market/memory-feed.ts';
import { describeGolden, readGolden, readGoldenFrame } from './golden-frame.ts';
import { syntheticFrame } from './synthetic-frame.ts';

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
describe('input frame', () => {
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
});

describe('frame history', () => {
  const FIRST = 16_000;
  const DAY = FIRST + 40;

  const everything = buildFrameObservations({
    close: buildObservations('btcClose', buildDailyPairs(FIRST, DAY + 30)),
    fearGreed: buildObservations('fearGreed', buildDailyPairs(FIRST, DAY + 30)),
    realizedPrice: buildObservations('realizedPrice', buildDailyPairs(FIRST, DAY + 30)),
    takerBuyFraction: buildObservations('takerBuyFraction', buildDailyPairs(FIRST, DAY + 30)),
    fundingRate: buildObservations('fundingRate', buildDailyPairs(FIRST, DAY + 30)),
    gold: buildObservations('gold', buildDailyPairs(FIRST - 500, DAY + 30)),
    pmi: buildObservations('pmi', [[DAY - 5, 50]]),
    etfFlow: buildObservations('etfFlow', buildDailyPairs(FIRST, DAY + 30)),
    sp500: buildObservations('sp500', buildDailyPairs(FIRST - 500, DAY + 30)),
    dxy: buildObservations('dxy', buildDailyPairs(FIRST - 500, DAY + 30)),
  });

  const LAST_RANGE = { highUsd: 800, lowUsd: 700 };

  function truncated(atMs: number, observations: FrameObservations = everything): FrameObservations {
    return Object.fromEntries(
      Object.entries(observations).map(([name, series]) => [name, sliceKnownAt(series, atMs)]),
    ) as FrameObservations;
  }

  function frameAt(day: Day, overrides: Partial<FrameObservations> = {}, atMs = getSignalTimeMs(day)) {
    return createFrameHistory(FIRST).buildFrame({
      day,
      atMs,
      lastClose: 777,
      lastRange: LAST_RANGE,
      observations: { ...everything, ...overrides },
    }).frame;
  }

  describe('lags', () => {
    it('reads each series up to its lag', () => {
      const frame = frameAt(DAY);
      expect(getLastDay(frame)).toBe(DAY);
      const last = Object.fromEntries(DAILY_COLUMNS.map((column) => [column, frame[column].at(-1)]));
      const yesterday = DAY - 1;
      expect(last).toEqual({
        close: 777,
        fearGreed: DAY,
        realizedPrice: yesterday,
        takerBuyFraction: yesterday,
        fundingRate: yesterday,
        gold: yesterday,
        pmi: 50,
        high: 800,
        low: 700,
      });
      expect([...frame.close.slice(0, -1)]).toEqual(buildDailyPairs(FIRST, DAY - 1).map(([, value]) => value));
    });

    it('cut business-day series at the previous day', () => {
      for (const column of BUSINESS_DAY_COLUMNS) expect(frameAt(DAY)[column].days.at(-1)).toBe(DAY - 1);
    });

    it('start business-day series 412 days before the first row', () => {
      expect(frameAt(DAY).sp500.days[0]).toBe(FIRST - 412);
    });

    it.each([
      ['fearGreed', 'fearGreed', 3],
      ['realizedPrice', 'realizedPrice', 7],
      ['takerBuyFraction', 'takerBuyFraction', 1],
      ['fundingRate', 'fundingRate', 1],
      ['gold', 'gold', 7],
      ['pmi', 'pmi', 45],
    ] as const)('mask %s beyond its staleness limit', (column, id, staleDays) => {
      const single = (age: number) => frameAt(DAY + 20, { [column]: buildObservations(id, [[DAY + 20 - age, 9]]) })[column].at(-1);
      expect(single(staleDays)).toBe(9);
      expect(single(staleDays + 1)).toBeNaN();
    });

    it('mask a value published after 21:35', () => {
      const late = buildObservations('gold', buildDailyPairs(DAY - 9, DAY - 1), (day) => getSignalTimeMs(day + 1) + 1);
      expect(frameAt(DAY, { gold: late }).gold.at(-1)).toBe(DAY - 2);
    });

    it('ignore values after the instant during the day', () => {
      const released = buildObservations('pmi', [
        [DAY - 30, 48],
        [DAY, 50],
      ]);
      expect(frameAt(DAY, { pmi: released }, toInstantMs(DAY, 14)).pmi.at(-1)).toBe(48);
      expect(frameAt(DAY, { pmi: released }, toInstantMs(DAY, 15)).pmi.at(-1)).toBe(50);
    });
  });

  describe('prefixes', () => {
    it('are equal when built from data cut at their own day', () => {
      const day = fc.integer({ min: FIRST, max: DAY });
      const property = fc.property(day, day, (a, b) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)];
        const rows = early - FIRST;
        const cut = frameAt(early, truncated(getSignalTimeMs(early)));
        const whole = frameAt(late);
        for (const column of DAILY_COLUMNS) {
          const length = ['close', 'high', 'low'].includes(column) ? rows : rows + 1;
          expect(cut[column].slice(0, length)).toEqual(whole[column].slice(0, length));
        }
        for (const column of BUSINESS_DAY_COLUMNS) {
          const count = cut[column].days.length;
          expect(cut[column].days).toEqual(whole[column].days.slice(0, count));
          expect(whole[column].days[count] ?? early).toBeGreaterThanOrEqual(early);
        }
      });
      fc.assert(property);
    });

    it('are equal for any order of queries', () => {
      const history = createFrameHistory(FIRST);
      const ask = (day: Day) => {
        const atMs = getSignalTimeMs(day);
        return history.buildFrame({ day, atMs, lastClose: 777, lastRange: LAST_RANGE, observations: truncated(atMs) }).frame;
      };
      fc.assert(
        fc.property(fc.integer({ min: FIRST, max: DAY }), (day) => {
          expect(ask(day)).toEqual(frameAt(day));
        }),
      );
    });

    it('keep the price of their instant after the day closes', () => {
      const history = createFrameHistory(FIRST);
      const ask = (day: Day, lastClose: number) =>
        history.buildFrame({ day, atMs: getSignalTimeMs(day), lastClose, lastRange: null, observations: everything }).frame;
      const early = ask(DAY, 1);
      const later = ask(DAY + 1, 2);
      expect(early.close.at(-1)).toBe(1);
      expect([...later.close.slice(-2)]).toEqual([DAY, 2]);
    });
  });

  describe('highs and lows', () => {
    const frameWith = (high: number, low: number) =>
      frameAt(DAY, { high: buildObservations('btcHigh', [[DAY - 2, high]]), low: buildObservations('btcLow', [[DAY - 2, low]]) });
    const rangeOf = ({ high, low }: ReturnType<typeof frameAt>, back: number) => [high.at(-1 - back), low.at(-1 - back)];

    it('are those of the whole day, and so far of the last', () => {
      const frame = frameWith(110, 100);
      expect([rangeOf(frame, 0), rangeOf(frame, 2)]).toEqual([
        [800, 700],
        [110, 100],
      ]);
      expect(rangeOf(frame, 1)).toEqual([Number.NaN, Number.NaN]);
    });

    it.each([
      ['a high below the low', 100, 110],
      ['a range of more than 70 % a day', 330, 100],
      ['a low of zero', 100, 0],
    ])('are both masked for %s', (_, high, low) => {
      expect(rangeOf(frameWith(high, low), 2)).toEqual([Number.NaN, Number.NaN]);
    });
  });

  describe('the range of the day before', () => {
    const range = { high: buildObservations('btcHigh', [[DAY - 1, 110]]), low: buildObservations('btcLow', [[DAY - 1, 100]]) };
    const knownFrom = (atMs: number) => {
      const late = (series: FrameObservations['high']) => ({ ...series, availableAt: Float64Array.of(atMs) });
      return { ...everything, high: late(range.high), low: late(range.low) };
    };
    const readAt = (history: ReturnType<typeof createFrameHistory>, atMs: number, all: FrameObservations) => {
      const known = truncated(atMs, all);
      const { high, low } = history.buildFrame({ day: DAY, atMs, lastClose: 777, lastRange: null, observations: known }).frame;
      return [high.at(-2), low.at(-2)];
    };
    const noon = toInstantMs(DAY, 12);

    it('is read when it becomes known after an earlier frame of the day', () => {
      const history = createFrameHistory(FIRST);
      expect(readAt(history, noon - 1, knownFrom(noon))).toEqual([Number.NaN, Number.NaN]);
      expect(readAt(history, getSignalTimeMs(DAY), knownFrom(noon))).toEqual([110, 100]);
    });

    it('stays masked when it becomes known after the signal of the next day', () => {
      const history = createFrameHistory(FIRST);
      const late = knownFrom(getSignalTimeMs(DAY) + 1);
      expect(readAt(history, toInstantMs(DAY + 1) - 1, late)).toEqual([Number.NaN, Number.NaN]);
      const atMs = getSignalTimeMs(DAY + 1);
      const { high } = history.buildFrame({ day: DAY + 1, atMs, lastClose: 777, lastRange: null, observations: late }).frame;
      expect(high.at(-3)).toBeNaN();
    });
  });

  describe('missing data', () => {
    it('throws HISTORY_TOO_SHORT before the first day', () => {
      expect(() => frameAt(FIRST - 1)).toThrow(expect.objectContaining({ code: 'HISTORY_TOO_SHORT' }));
    });

    it('throws PRICE_UNAVAILABLE without the close of an earlier day', () => {
      const gap = buildDailyPairs(FIRST, DAY).filter(([day]) => day !== FIRST + 3);
      expect(() => frameAt(DAY, { close: buildObservations('btcClose', gap) })).toThrow(
        expect.objectContaining({ code: 'PRICE_UNAVAILABLE', message: expect.stringContaining('2013-10-25') }),
      );
    });

    it('is masked in any other series', () => {
      const frame = createFrameHistory(FIRST).buildFrame({
        day: DAY,
        atMs: getSignalTimeMs(DAY),
        lastClose: 777,
        lastRange: null,
        observations: buildFrameObservations({ close: everything.close }),
      }).frame;
      for (const column of DAILY_COLUMNS.filter((name) => name !== 'close')) expect(frame[column].every(Number.isNaN)).toBe(true);
      for (const column of BUSINESS_DAY_COLUMNS) expect(frame[column].days).toHaveLength(0);
    });
  });
});
