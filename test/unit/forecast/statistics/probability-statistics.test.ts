import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeProbabilityStatistics, decomposeBrier } from '../../../../src/forecast/statistics.ts';
import { horizon, scored, scoredRecord } from './scored-forecasts.ts';

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
