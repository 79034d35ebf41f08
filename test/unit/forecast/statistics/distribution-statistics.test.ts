import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeRecordStatistics } from '../../../../src/forecast/record-statistics.ts';
import { computeShareInterval } from '../../../../src/forecast/signal.ts';
import { computeDistributionStatistics, WEEKDAYS } from '../../../../src/forecast/statistics.ts';
import { horizon, scored, scoredRecord } from './scored-forecasts.ts';

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
