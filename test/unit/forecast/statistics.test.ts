import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/forecast/bootstrap.ts';
import { computeRecordStatistics } from '../../../src/forecast/record-statistics.ts';
import { computeShareInterval, wilsonInterval } from '../../../src/forecast/signal.ts';
import {
  computeCallStatistics,
  computeDistributionStatistics,
  computeProbabilityStatistics,
  computeReliabilityBins,
  computeSignTest,
  decomposeBrier,
  type ScoredForecast,
  testAdvantageOverAlwaysUp,
  toDailyColumn,
  WEEKDAYS,
} from '../../../src/forecast/statistics.ts';
import { between } from '../../support/record/arbitraries.ts';
import { FIRST, horizon, scored, scoredRecord, windowSigns } from './scored-forecasts.ts';

const down = (index: number, rose: boolean) => scored(index, { call: 'DOWN', rose });
/** Calls of DOWN on these days, all right or all wrong. */
const downs = (indices: readonly number[], rose = false) => indices.map((index) => down(index, rose));

describe('the sign test', () => {
  it('is exact', () => {
    expect(computeSignTest(0, 0)).toBe(1);
    expect(computeSignTest(5, 5)).toBeCloseTo(2 / 32, 12);
    expect(computeSignTest(6, 6)).toBeCloseTo(2 / 64, 12);
    expect(computeSignTest(9, 10)).toBeCloseTo((2 * 11) / 1024, 12);
    expect(computeSignTest(5, 10)).toBe(1);
    // scipy: binomtest(5125, 10000).pvalue
    expect(computeSignTest(5_125, 10_000)).toBeCloseTo(0.012770430992607777, 9);
  });

  it('returns a symmetric p-value that decreases away from one half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(3_000), (n, drawn) => {
        const right = drawn % (n + 1);
        const chance = computeSignTest(right, n);
        expect(chance).toBeGreaterThanOrEqual(0);
        expect(chance).toBeLessThanOrEqual(1);
        expect(computeSignTest(n - right, n)).toBe(chance);
        if (2 * right > n) expect(chance).toBeLessThanOrEqual(computeSignTest(right - 1, n));
      }),
    );
  });
});

describe('the advantage over always-UP', () => {
  it('needs six DOWN calls, all right or all wrong', () => {
    const days = [0, 7, 14, 21, 28, 35];
    expect(testAdvantageOverAlwaysUp(downs(days.slice(1)), 7)).toBe(0);
    expect(testAdvantageOverAlwaysUp(downs(days), 7)).toBe(1);
    expect(testAdvantageOverAlwaysUp(downs(days, true), 7)).toBe(-1);
  });

  it('ignores overlapping windows, UP calls and HOLD', () => {
    expect(testAdvantageOverAlwaysUp(downs(Array.from({ length: 35 }, (_, index) => index)), 7)).toBe(0);
    expect(
      testAdvantageOverAlwaysUp(
        Array.from({ length: 400 }, (_, index) => scored(index, { rose: index % 10 > 0 })),
        7,
      ),
    ).toBe(0);
    expect(
      testAdvantageOverAlwaysUp(
        [0, 1, 2, 3, 4, 5].map((index) => scored(index, { call: null, rose: false })),
        1,
      ),
    ).toBe(0);
    expect(testAdvantageOverAlwaysUp([], 1)).toBe(0);
  });

  it('is not claimed from one cluster of a long record', () => {
    const record = (days: number) => Array.from({ length: days }, (_, index) => (index < 15 ? down(index, false) : scored(index)));
    expect(testAdvantageOverAlwaysUp(record(69), 1)).toBe(1);
    expect(testAdvantageOverAlwaysUp(record(70), 1)).toBe(0);
  });

  it('is not claimed when the daily difference disagrees', () => {
    // Right in two fortnights, and in three other places once: enough for chance, but most of it was gained in two runs.
    const isDown = (index: number) => index < 12 || (index >= 100 && index < 112) || [40, 70, 150].includes(index);
    const record = Array.from({ length: 200 }, (_, index) => (isDown(index) ? down(index, index >= 40 && index <= 70) : scored(index)));
    expect(computeSignTest(25, 27)).toBeLessThan(0.001);
    expect(testAdvantageOverAlwaysUp(record, 1)).toBe(0);
  });

  it('changes sign with the outcomes', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const opposite = record.map((one): ScoredForecast => ({ ...one, rose: !one.rose }));
        expect(testAdvantageOverAlwaysUp(opposite, h) + testAdvantageOverAlwaysUp(record, h)).toBe(0);
      }),
    );
  });

  it.each([
    { days: 60, horizonDays: 1, share: 0.1 },
    { days: 69, horizonDays: 1, share: 0.5 },
    { days: 60, horizonDays: 7, share: 0.2 },
    { days: 113, horizonDays: 2, share: 0.5 },
    { days: 113, horizonDays: 7, share: 0.5 },
    { days: 365, horizonDays: 1, share: 0.5 },
  ])('has at most 5 % false positives: $days days at $horizonDays, DOWN by $share', ({ days, horizonDays, share }) => {
    const trials = 300;
    let claims = 0;
    for (let trial = 0; trial < trials; trial++) {
      const random = createRandom(50_000 + trial);
      if (testAdvantageOverAlwaysUp(withoutSkill({ days, horizonDays, share, random }), horizonDays) !== 0) claims++;
    }
    expect(claims / trials).toBeLessThanOrEqual(0.05 + 2 * Math.sqrt((0.05 * 0.95) / trials));
  });
});

/** Calls that last, and know nothing of a random walk. */
function withoutSkill(options: { days: number; horizonDays: number; share: number; random: () => number }): ScoredForecast[] {
  const { share, random } = options;
  let call: 'UP' | 'DOWN' = 'UP';
  return windowSigns(options).map((rose, index) => {
    if (index === 0 || random() > 0.8) call = random() < share ? 'DOWN' : 'UP';
    return { ...scored(index, { rose, call }), day: FIRST + index };
  });
}
describe('statistics of calls', () => {
  it('exclude HOLD, and every interval contains its share', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const { n, hits, accuracy, effectiveN, wilson95, alwaysUp } = computeCallStatistics(record, h);
        const calls = record.filter(({ call }) => call !== null);
        expect(n).toBe(calls.length);
        expect(hits).toBe(calls.filter(({ call, rose }) => (call === 'UP') === rose).length);
        expect(effectiveN).toBeLessThanOrEqual(n);
        if (n === 0) {
          expect([accuracy, wilson95, alwaysUp]).toEqual([null, null, null]);
          return;
        }
        expect(wilson95!.low).toBeLessThanOrEqual(accuracy!);
        expect(wilson95!.high).toBeGreaterThanOrEqual(accuracy!);
        expect(alwaysUp!.difference.value).toBeCloseTo(accuracy! - alwaysUp!.accuracy, 12);
      }),
    );
  });

  it('put each call into exactly one offset', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const { n, hits, offsets } = computeCallStatistics(record, h);
        const sumOf = (what: 'n' | 'hits') => offsets.reduce((sum, offset) => sum + offset[what], 0);
        expect([sumOf('n'), sumOf('hits')]).toEqual([n, hits]);
        expect(offsets.map(({ offsetDays }) => offsetDays)).toEqual(n === 0 ? [] : Array.from({ length: h }, (_, index) => index));
      }),
    );
    const { offsets } = computeCallStatistics(
      [0, 1, 2, 4].map((index) => scored(index, { rose: index !== 2 })),
      2,
    );
    expect(offsets).toEqual([
      { offsetDays: 0, n: 3, hits: 2, accuracy: 2 / 3 },
      { offsetDays: 1, n: 1, hits: 1, accuracy: 1 },
    ]);
  });

  it('have bootstrap intervals from five blocks', () => {
    const record = (days: number) => Array.from({ length: days }, (_, index) => scored(index, { rose: index % 3 !== 0 }));
    expect(computeCallStatistics(record(69), 7)).toMatchObject({
      bootstrap95: null,
      alwaysUp: { difference: { value: 0, low: null, high: null } },
    });
    const { accuracy, bootstrap95, alwaysUp } = computeCallStatistics(record(70), 7);
    expect(bootstrap95!.low).toBeLessThanOrEqual(accuracy!);
    expect(bootstrap95!.high).toBeGreaterThanOrEqual(accuracy!);
    expect(alwaysUp!.difference).toEqual({ value: 0, low: null, high: null });
  });

  it('have no bootstrap interval for clustered calls of a long record', () => {
    const at = (...indices: number[]) =>
      computeCallStatistics(
        indices.map((index) => scored(index)),
        7,
      );
    expect(at(0, 69).bootstrap95).toBeNull();
    expect(at(0, 1, 2, 100, 101, 290).bootstrap95).toBeNull();
    expect(at(0, 20, 40, 60, 80).bootstrap95).toEqual({ low: 1, high: 1 });
  });

  it('stay in range for few blocks', () => {
    const record = (call: (index: number) => 'UP' | 'DOWN') =>
      Array.from({ length: 70 }, (_, index) => scored(index, { call: call(index) }));
    expect(
      computeCallStatistics(
        record((index) => (index < 12 ? 'DOWN' : 'UP')),
        1,
      ).bootstrap95!.high,
    ).toBe(1);
    const { bootstrap95, alwaysUp } = computeCallStatistics(
      record((index) => (index >= 58 || index % 14 === 0 ? 'UP' : 'DOWN')),
      1,
    );
    expect([bootstrap95!.low, alwaysUp!.difference.low]).toEqual([0, -1]);
  });

  it('have an interval of the always-UP difference when DOWN calls fill five blocks', () => {
    const record = (places: number) =>
      Array.from({ length: 140 }, (_, index) =>
        scored(index, index % 28 === 0 && index < places * 28 ? { call: 'DOWN', rose: false } : {}),
      );
    expect(computeCallStatistics(record(4), 1).alwaysUp!.difference).toEqual({ value: 4 / 140, low: null, high: null });
    const { value, low, high } = computeCallStatistics(record(5), 1).alwaysUp!.difference;
    expect(low!).toBeLessThan(value);
    expect(high!).toBeGreaterThan(value);
  });

  it('reject days that do not ascend', () => {
    const refused = expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringContaining('2026-01-02') });
    expect(() => computeCallStatistics([scored(1), scored(1)], 1)).toThrow(refused);
    expect(() => computeCallStatistics([scored(2), scored(1)], 1)).toThrow(refused);
  });
});

describe('daily columns', () => {
  it('are 0 on days without a forecast', () => {
    expect(toDailyColumn([{ day: FIRST }, { day: FIRST + 3 }], ({ day }) => day)).toEqual(Float64Array.of(FIRST, 0, 0, FIRST + 3));
    expect(toDailyColumn([], () => 1)).toHaveLength(0);
  });
});
describe('statistics of distributions', () => {
  it('cover forecasts with a distribution, with shares inside their intervals', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const statistics = computeDistributionStatistics(record, h);
        const known = record.filter(({ distribution }) => distribution !== null);
        if (known.length === 0) {
          expect(statistics).toBeNull();
          return;
        }
        const { n, effectiveN, coverage, quantiles } = statistics!;
        expect(n).toBe(known.length);
        expect(effectiveN).toBeLessThanOrEqual(n);
        for (const { observed, interval95 } of [...coverage, ...quantiles]) {
          expect(interval95.low).toBeLessThanOrEqual(observed);
          expect(interval95.high).toBeGreaterThanOrEqual(observed);
        }
        for (const rising of [coverage, quantiles]) {
          for (let next = 1; next < rising.length; next++) expect(rising[next].observed).toBeGreaterThanOrEqual(rising[next - 1].observed);
        }
      }),
    );
  });

  it('match nominal coverage for uniform outcomes', () => {
    const record = Array.from({ length: 1000 }, (_, index) => scored(index, { distribution: { crps: 0.01, pit: (index + 0.5) / 1000 } }));
    const { crps, coverage, quantiles } = computeDistributionStatistics(record, 1)!;
    expect(crps).toBeCloseTo(0.01, 12);
    for (const { nominal, observed } of coverage) expect(observed).toBeCloseTo(nominal, 3);
    for (const { level, observed } of quantiles) expect(observed).toBeCloseTo(level, 3);
  });

  it('have coverage by the weekday on which the window opens', () => {
    // Saturdays' windows follow the forecasts of Fridays; day 2 is Saturday, 3 January 1970.
    const record = Array.from({ length: 700 }, (_, day) => scored(day, { distribution: { crps: 0.01, pit: day % 7 === 1 ? 0.5 : 0.02 } }));
    const { weekdays, coverage } = computeDistributionStatistics(record, 1)!;
    expect(weekdays.map(({ weekday, n }) => [weekday, n])).toEqual(WEEKDAYS.map((weekday) => [weekday, 100]));
    for (const { weekday, coverage: bands } of weekdays)
      expect(bands.map(({ observed }) => observed)).toEqual(bands.map(() => (weekday === 'Sat' ? 1 : 0)));
    expect(coverage[1]!.observed).toBeCloseTo(1 / 7, 12);
    expect(computeDistributionStatistics(record.slice(0, 2), 1)!.weekdays.map(({ weekday }) => weekday)).toEqual(['Fri', 'Sat']);
  });

  it('have intervals by the bootstrap, and Wilson where it has too few blocks', () => {
    const record = Array.from({ length: 400 }, (_, day) => scored(day, { distribution: { crps: 0.01, pit: day % 60 < 40 ? 0.5 : 0.01 } }));
    const { coverage, effectiveN } = computeDistributionStatistics(record, 1)!;
    // Outcomes that cluster for weeks are worth less than their number.
    const width = ({ low, high }: { low: number; high: number }) => high - low;
    expect(width(coverage[1]!.interval95)).toBeGreaterThan(1.2 * width(computeShareInterval(coverage[1]!.observed, effectiveN)));
    const short = computeDistributionStatistics(record.slice(0, 50), 1)!;
    expect(short.coverage[1]!.interval95).toEqual(computeShareInterval(short.coverage[1]!.observed, short.effectiveN));
  });

  it('reveal distributions that are too narrow', () => {
    const record = Array.from({ length: 200 }, (_, index) =>
      scored(index, { distribution: { crps: 0.01, pit: index % 2 === 0 ? 0.02 : 0.98 } }),
    );
    for (const { nominal, observed, interval95 } of computeDistributionStatistics(record, 1)!.coverage) {
      expect(observed).toBe(0);
      expect(interval95.high).toBeLessThan(nominal);
    }
  });
});

describe('statistics of a record', () => {
  it('are null or empty without forecasts', () => {
    expect(computeRecordStatistics([], 7)).toEqual({
      calls: {
        n: 0,
        hits: 0,
        accuracy: null,
        effectiveN: 0,
        wilson95: null,
        bootstrap95: null,
        offsets: [],
        selection: null,
        alwaysUp: null,
      },
      probabilities: null,
      distribution: null,
    });
  });

  it('are deterministic', () => {
    const record = Array.from({ length: 100 }, (_, index) => scored(index, { rose: index % 3 > 0, call: index % 5 > 0 ? 'UP' : 'DOWN' }));
    expect(computeRecordStatistics(structuredClone(record), 7)).toEqual(computeRecordStatistics(record, 7));
  });
});
describe('statistics of probabilities', () => {
  it('include HOLD, and their parts add up', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const statistics = computeProbabilityStatistics(record, h);
        if (record.length === 0) {
          expect(statistics).toBeNull();
          return;
        }
        const { n, brier, murphy, reliability } = statistics!;
        expect(n).toBe(record.length);
        expect(brier).toBeCloseTo(murphy.brier, 12);
        expect(murphy.reliability - murphy.resolution + murphy.uncertainty + murphy.withinBins).toBeCloseTo(brier, 12);
        expect(reliability.reduce((sum, row) => sum + row.n, 0)).toBe(n);
        for (const { from, to, meanProbability, observedShare, interval95, effectiveN, n: members } of reliability) {
          expect(members).toBeGreaterThan(0);
          expect(effectiveN).toBeLessThanOrEqual(members);
          expect(meanProbability).toBeGreaterThanOrEqual(from - 1e-9);
          expect(meanProbability).toBeLessThanOrEqual(to + 1e-9);
          expect(interval95.low).toBeLessThanOrEqual(observedShare);
          expect(interval95.high).toBeGreaterThanOrEqual(observedShare);
        }
      }),
    );
  });

  it('are 0.25 and 0.6931 for a constant one half', () => {
    const { brier, logScore } = computeProbabilityStatistics([scored(0, { pUp: 0.5 }), scored(1, { pUp: 0.5, rose: false })], 1)!;
    expect(brier).toBe(0.25);
    expect(logScore).toBeCloseTo(Math.LN2, 12);
  });

  it('measure skill against the base rate and against certainty', () => {
    const record = [scored(0, { pUp: 0.8 }), scored(1, { pUp: 0.4, rose: false })];
    const { climatologySkill, alwaysUpSkill } = computeProbabilityStatistics(record, 1)!;
    // (0.04 + 0.16) / 2 against (0.47^2 + 0.53^2) / 2, and against 1 / 2.
    expect(climatologySkill!.brier).toBeCloseTo(0.2509, 12);
    expect(climatologySkill!.value).toBeCloseTo(1 - 0.1 / 0.2509, 12);
    expect(alwaysUpSkill).toEqual({ brier: 0.5, value: expect.closeTo(0.8, 12), low: null, high: null });
  });

  it('measure skill against the base rate of four years where every day has it', () => {
    const record = [scored(0, { pUp: 0.8, climatology4y: 0.5 }), scored(1, { pUp: 0.4, rose: false, climatology4y: 0.6 })];
    // (0.04 + 0.16) / 2 against (0.25 + 0.36) / 2.
    expect(computeProbabilityStatistics(record, 1)!.climatology4ySkill).toMatchObject({
      brier: expect.closeTo(0.305, 12),
      value: expect.closeTo(1 - 0.1 / 0.305, 12),
    });
    expect(computeProbabilityStatistics([...record, scored(2)], 1)!.climatology4ySkill).toBeNull();
  });

  it('have no skill when the reference is unknown or never wrong', () => {
    expect(computeProbabilityStatistics([scored(0), scored(1, { climatology: null })], 1)).toMatchObject({
      climatologySkill: null,
      alwaysUpSkill: null,
    });
  });

  it('have no always-UP interval when few resamples have a fall', () => {
    const record = (fell: (index: number) => boolean) => Array.from({ length: 113 }, (_, index) => scored(index, { rose: !fell(index) }));
    const { alwaysUpSkill, climatologySkill } = computeProbabilityStatistics(
      record((index) => index >= 50 && index < 56),
      7,
    )!;
    expect(alwaysUpSkill).toEqual({ brier: expect.closeTo(6 / 113, 12), value: expect.any(Number), low: null, high: null });
    expect(climatologySkill!.low).not.toBeNull();
    expect(
      computeProbabilityStatistics(
        record((index) => index % 9 < 3),
        7,
      )!.alwaysUpSkill!.low,
    ).not.toBeNull();
  });

  it('have skill of at most 1', () => {
    const record = Array.from({ length: 70 }, (_, index) => scored(index, { pUp: index < 12 ? 0.02 : 0.99 }));
    const { value, high } = computeProbabilityStatistics(record, 1)!.climatologySkill!;
    expect(value).toBeLessThan(0.5);
    expect(high).toBe(1);
  });

  it('have intervals that separate skill from none in a long record', () => {
    const record = (pOf: (rose: boolean) => number) =>
      Array.from({ length: 140 }, (_, index) => scored(index, { rose: index % 2 === 0, pUp: pOf(index % 2 === 0) }));
    expect(
      computeProbabilityStatistics(
        record((rose) => (rose ? 0.7 : 0.3)),
        1,
      )!.climatologySkill!.low,
    ).toBeGreaterThan(0);
    expect(
      computeProbabilityStatistics(
        record((rose) => (rose ? 0.3 : 0.7)),
        1,
      )!.climatologySkill!.high,
    ).toBeLessThan(0);
  });
});

describe("Murphy's decomposition", () => {
  const judged = fc.array(fc.record({ p: fc.integer({ min: 0, max: 9 }).map((tenth) => (tenth + 0.5) / 10), happened: fc.boolean() }), {
    minLength: 1,
  });

  it('has no within-bin term for equal probabilities', () => {
    fc.assert(
      fc.property(judged, (items) => {
        const { withinBins, reliability, resolution, uncertainty } = decomposeBrier(items, 10)!;
        expect(withinBins).toBeCloseTo(0, 12);
        expect(reliability).toBeGreaterThanOrEqual(0);
        expect(resolution).toBeLessThanOrEqual(uncertainty + 1e-12);
      }),
    );
  });

  it('is uncertainty alone for the base rate, resolution for certainty', () => {
    const known = [true, false].map((happened) => ({ p: happened ? 1 : 0, happened }));
    expect(decomposeBrier(known, 20)).toEqual({ brier: 0, reliability: 0, resolution: 0.25, uncertainty: 0.25, withinBins: 0 });
    expect(
      decomposeBrier(
        known.map(({ happened }) => ({ p: 0.5, happened })),
        20,
      ),
    ).toMatchObject({ resolution: 0, reliability: 0 });
    expect(decomposeBrier([], 20)).toBeNull();
  });
});
const probability = between(0, 1);
const judged = fc.array(fc.record({ p: probability, happened: fc.boolean() }));

describe('reliability bins', () => {
  it('contain every probability once within their bounds', () => {
    fc.assert(
      fc.property(judged, (items) => {
        const bins = computeReliabilityBins(items);
        expect(bins).toHaveLength(10);
        expect(bins.reduce((sum, { n }) => sum + n, 0)).toBe(items.length);
        const happened = bins.reduce((sum, { n, observedShare }) => sum + n * (observedShare ?? 0), 0);
        expect(happened).toBeCloseTo(items.filter((item) => item.happened).length, 6);
        for (const { from, to, n, meanProbability, observedShare, interval95 } of bins) {
          expect(interval95).toEqual(observedShare === null ? null : wilsonInterval(observedShare * n, n));
          if (n === 0) expect(meanProbability).toBeNull();
          else expect(meanProbability! >= from - 1e-9 && meanProbability! <= to + 1e-9).toBe(true);
        }
      }),
    );
  });

  it.each([
    [0, 0],
    [0.0999, 0],
    [0.1, 1],
    [0.5, 5],
    [0.95, 9],
    [1, 9],
  ])('put %d into bin %i', (p, index) => {
    expect(computeReliabilityBins([{ p, happened: true }])[index]).toMatchObject({ n: 1, meanProbability: p, observedShare: 1 });
  });

  it('have intervals on the effective count', () => {
    const items = Array.from({ length: 10 }, (_, index) => ({ p: 0.55, happened: index < 6, week: index % 2 }));
    const bins = computeReliabilityBins(items, (members) => new Set(members.map(({ week }) => week)).size);
    expect(bins[5]).toMatchObject({ n: 10, effectiveN: 2, interval95: wilsonInterval(1.2, 2) });
    expect(bins[4]).toMatchObject({ n: 0, effectiveN: 0, interval95: null });
  });

  it.each([-0.01, 1.01, Number.NaN])('reject %d', (p) => {
    expect(() => computeReliabilityBins([{ p, happened: true }])).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
