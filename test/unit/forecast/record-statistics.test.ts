import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeEffectiveCount } from '../../../src/forecast/bootstrap.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import {
  computeRecordStatistics,
  estimateRatio,
  type RatioPart,
  summarizeRecord,
  sumRatioParts,
} from '../../../src/forecast/record-statistics.ts';
import { computeShareInterval } from '../../../src/forecast/signal.ts';
import type { RecordRow, ScoredForecast } from '../../../src/forecast/statistics.ts';
import { horizon, scored, scoredRecord } from './scored-forecasts.ts';
import { seededRandom } from './synthetic-frame.ts';

describe('finite', () => {
  /** Nested numbers that JSON cannot represent. */
  function untellable(tree: unknown, path = ''): string[] {
    if (typeof tree === 'number') return Number.isFinite(tree) ? [] : [`${path} is ${tree}`];
    if (typeof tree !== 'object' || tree === null) return [];
    return Object.entries(tree).flatMap(([key, value]) => untellable(value, `${path}.${key}`));
  }

  const row = (one: ScoredForecast): RecordRow => ({
    day: one.day,
    status: one.call === null ? 'HOLD' : (one.call === 'UP') === one.rose ? 'WIN' : 'LOSS',
    missed: false,
    scored: one,
  });

  /** Records at whose edges divisors vanish: falls in some places only, probabilities and base rates that are certain, long gaps. */
  const oddRecord = fc
    .record({
      days: fc.integer({ min: 1, max: 160 }),
      falls: fc.constantFrom('none', 'all', 'one', 'a week', 'two weeks', 'now and then'),
      call: fc.constantFrom('UP', 'DOWN', null, 'both'),
      pUp: fc.constantFrom(0, 0.55, 1, 'right', 1e-170),
      climatology: fc.constantFrom(0, 0.53, 1, 'right', 1e-170, null),
      every: fc.constantFrom(1, 1, 3, 40),
    })
    .map(({ days, falls, call, pUp, climatology, every }) => {
      const places = { none: [], all: [[0, 999]], one: [[60, 61]], 'a week': [[50, 57]], 'two weeks': [[9, 16], [90, 97]], 'now and then': [[3, 5], [33, 40], [80, 82], [100, 101], [140, 150]] }; // biome-ignore format: one line a place
      const fell = (index: number) => places[falls as keyof typeof places].some(([from, to]) => index >= from && index < to);
      const sure = <T>(said: T | 'right', rose: boolean) => (said === 'right' ? Number(rose) : said);
      return Array.from({ length: days }, (_, index): ScoredForecast => {
        const rose = !fell(index);
        const called = call === 'both' ? (index % 4 === 0 ? 'DOWN' : 'UP') : (call as ScoredForecast['call']);
        return scored(index * every, {
          rose,
          call: called,
          pUp: sure(pUp, rose) as number,
          climatology: sure(climatology, rose) as number,
        });
      });
    });

  describe('statistics of degenerate records', () => {
    it('are finite or null', () => {
      fc.assert(
        fc.property(fc.oneof(oddRecord, scoredRecord(150)), horizon, (record, h) => {
          expect(untellable(computeRecordStatistics(record, h))).toEqual([]);
          expect(untellable(summarizeRecord(record.map(row), h))).toEqual([]);
        }),
        { numRuns: 150 },
      );
    });

    it('survive JSON without new nulls', () => {
      // A quarter of a year in which it fell for one week.
      const quarter = Array.from({ length: 80 }, (_, index) => scored(index, { rose: index < 50 || index > 56 }));
      const made = computeRecordStatistics(quarter, 7);
      expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      expect(made.probabilities!.alwaysUpSkill).toMatchObject({ low: null, high: null });
    });

    it('accept gaps of years', () => {
      const apart = [scored(0), scored(parseDay('2030-01-01') - parseDay('2026-01-01'), { rose: false })];
      expect(untellable(computeRecordStatistics(apart, 7))).toEqual([]);
      expect(computeRecordStatistics(apart, 7).calls.bootstrap95).toBeNull();
    });
  });
});

const RANGE = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
const part = fc.record({
  numerator: fc.double({ min: 0, max: 2, noNaN: true }),
  denominator: fc.double({ min: 0.1, max: 2, noNaN: true }),
});
const parts = fc
  .array(fc.option(part, { freq: 5 }), { minLength: 1, maxLength: 200 })
  .map((days) => days.flatMap((one, day): RatioPart[] => (one === null ? [] : [{ day, ...one }])));

describe('a ratio of sums', () => {
  it('is that of the days asked for, whatever lies around them', () => {
    fc.assert(
      fc.property(parts, fc.nat(200), fc.nat(200), (all, a, b) => {
        const [from, through] = [Math.min(a, b), Math.max(a, b)];
        const own = all.filter(({ day }) => day >= from && day <= through);
        const { value, low, high } = estimateRatio(sumRatioParts(all), { from, through }, RANGE);
        if (own.length === 0) {
          expect(value).toBeNull();
          return;
        }
        const [upper, lower] = (['numerator', 'denominator'] as const).map((key) => own.reduce((sum, one) => sum + one[key], 0));
        expect(value).toBeCloseTo(upper! / lower!, 9);
        if (low !== null && high !== null) expect(low <= value! && value! <= high).toBe(true);
      }),
    );
  });

  it('has an interval from five blocks on', () => {
    const days = (count: number) => sumRatioParts(Array.from({ length: count }, (_, day) => ({ day, numerator: day % 2, denominator: 1 })));
    expect(estimateRatio(days(56), { from: 0, through: 55 }, RANGE).low).toBeNull();
    expect(estimateRatio(days(70), { from: 0, through: 69 }, RANGE).low).not.toBeNull();
  });

  it('covers the truth in about 95 % of records with dependent days', () => {
    const random = seededRandom(11);
    let covered = 0;
    const runs = 400;
    for (let run = 0; run < runs; run++) {
      const drawn = Array.from({ length: 607 }, () => (random() < 0.5 ? 1 : 0));
      // A week's moving average: neighbouring days share six of seven draws.
      const own = Array.from({ length: 600 }, (_, day) => {
        const week = drawn.slice(day, day + 7).reduce((sum: number, value) => sum + value, 0) / 7;
        return { day, numerator: week, denominator: 1 };
      });
      const { low, high } = estimateRatio(sumRatioParts(own), { from: 0, through: 599 }, RANGE);
      if (low! <= 0.5 && high! >= 0.5) covered++;
    }
    expect(covered / runs).toBeGreaterThan(0.9);
    expect(covered / runs).toBeLessThan(0.985);
  });
});
describe('verdict', () => {
  /** A resolved forecast as the record has it. */
  function row(index: number, changes: Partial<ScoredForecast>): RecordRow {
    const one = scored(index, changes);
    const status = one.call === null ? 'HOLD' : (one.call === 'UP') === one.rose ? 'WIN' : 'LOSS';
    return { day: one.day, status, missed: false, scored: one };
  }

  const rows = (days: number, changesOf: (index: number) => Partial<ScoredForecast>) =>
    Array.from({ length: days }, (_, index) => row(index, changesOf(index)));
  const verdict = (record: readonly RecordRow[], horizonDays = 1) => summarizeRecord(record, horizonDays).verdict;

  const right = (rose: boolean) => ({ rose, call: rose ? ('UP' as const) : ('DOWN' as const) });
  const wrong = (rose: boolean) => ({ rose, call: rose ? ('DOWN' as const) : ('UP' as const) });

  describe('the verdict', () => {
    it('reports all calls with their interval and the non-overlapping ones', () => {
      // A year of 7-day forecasts: 52 windows that do not overlap, on 33 of which the call was right.
      const year = rows(52 * 7, (index) => (Math.floor(index / 7) < 33 ? right(index % 14 < 7) : wrong(index % 14 < 7)));
      expect(verdict(year, 7)).toBe(
        'not distinguishable from always-UP: 231 of 364 right, worth 70 independent calls, 95 % interval 0.52 to 0.74; always-UP 182 of 364; on windows that do not overlap 33 of 52, always-UP 26',
      );
      const worth = computeEffectiveCount(
        year.map(({ day }) => day),
        7,
      );
      expect(summarizeRecord(year, 7).accuracyInterval95).toEqual(computeShareInterval(231 / 364, worth));
    });

    it('reports that every call was UP', () => {
      const always = rows(30, (index) => ({ rose: index < 28 }));
      expect(verdict(always)).toMatch(
        /^not distinguishable from always-UP: 28 of 30 right, .*; every call was UP: no day was left out, so that it is always-UP$/,
      );
    });

    it('compares UP calls with HOLD days', () => {
      const short = rows(30, (index) => ({ rose: index % 3 > 0, call: index % 2 === 0 ? 'UP' : null }));
      expect(verdict(short)).toMatch(
        /; every call was UP: it rose on 66\.7 % of those days and on 66\.7 % of HOLD days, difference 0\.0 points, on too few days for an interval$/,
      );
      const chosen = rows(400, (index) => ({ rose: index % 2 === 0 || index % 10 === 1, call: index % 2 === 0 ? 'UP' : null }));
      expect(verdict(chosen)).toMatch(
        /on 100\.0 % of those days and on 20\.0 % of HOLD days, difference 80\.0 points \(95 % interval \d+\.\d to \d+\.\d\)$/,
      );
    });

    it.each([
      ['better than', right],
      ['worse than', wrong],
    ])('is "%s" when DOWN calls and the daily difference agree', (words, call) => {
      const record = rows(140, (index) => (index % 10 === 0 ? { rose: true } : call(index % 2 === 0)));
      expect(verdict(record)).toMatch(new RegExp(`^${words} always-UP: \\d+ of 140 right, `));
    });

    it('uses DOWN calls alone for a short record', () => {
      expect(verdict(rows(20, (index) => right(index % 2 === 0)))).toMatch(/^better than always-UP: 20 of 20 right/);
    });

    it('claims nothing from one DOWN call', () => {
      expect(
        verdict(
          rows(1, () => right(false)),
          7,
        ),
      ).toMatch(/^not distinguishable from always-UP: 1 of 1 right, /);
      expect(
        verdict(
          rows(1, () => wrong(true)),
          7,
        ),
      ).toMatch(/^not distinguishable from always-UP: 0 of 1 right, /);
    });

    it('is not "better" when the gain lies within one fortnight', () => {
      const record = rows(100, (index) => (index < 15 ? right(false) : { rose: index % 2 === 0 }));
      const { wins, dedupedInterval95, alwaysUpAccuracy } = summarizeRecord(record, 1);
      expect(wins / 100 - alwaysUpAccuracy!).toBeCloseTo(0.15, 12);
      expect(dedupedInterval95!.low).toBeGreaterThan(alwaysUpAccuracy!);
      expect(verdict(record)).toMatch(/^not distinguishable from always-UP: /);
    });

    it('makes no claim without calls', () => {
      expect(verdict([])).toBe('nothing resolved yet: no claim can be made');
      expect(verdict(rows(2, () => ({ call: null })))).toBe('no calls: all 2 resolved forecasts were HOLD');
    });
  });
});
