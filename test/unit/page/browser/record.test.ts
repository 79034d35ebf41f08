import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDayTicks, createScale, formatDayNumber, parseDayNumber } from '../../../../src/page/browser/charts/figure.ts';
import { splitAtGaps, toPriceDays } from '../../../../src/page/browser/charts/over-time.ts';
import { computeAlwaysUpShare } from '../../../../src/page/browser/parts/accuracy.ts';
import { countInsideBand } from '../../../../src/page/browser/parts/price.ts';
import { toRegimeRuns } from '../../../../src/page/browser/parts/regimes.ts';
import { buildSkillRows, markReplayed } from '../../../../src/page/browser/record.ts';
import type { ApiResponses, ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { findNeighbours } from '../../../../src/page/browser/section.ts';

describe('record rows', () => {
  /** A 2-day forecast row with the fields of the charts. */
  function row(date: string, values: Partial<ScorecardRow> = {}): ScorecardRow {
    const day = parseDayNumber(date);
    const at = (days: number) => `${formatDayNumber(day + days)}T00:00:00.000Z`;
    const nothing = {
      status: 'PENDING',
      regime: 'CHOP',
      riskLevel: 'Moderate',
      btcAtSignal: null,
      btcAtResolution: null,
      band80: null,
      outcome: null,
    };
    return { date, windowOpensAt: at(1), resolvesAt: at(3), ...nothing, ...values } as ScorecardRow;
  }

  const band80 = { low: 90, median: 100, high: 110 };

  describe('toPriceDays', () => {
    it('returns the close of each day and the band of the forecast that ends then', () => {
      const days = toPriceDays([
        row('2026-02-27', { status: 'WIN', btcAtSignal: 99, btcAtResolution: 111, band80 }),
        row('2026-02-28', { status: 'LOSS', btcAtSignal: 98, btcAtResolution: 90, band80 }),
        row('2026-03-01', { btcAtSignal: 111 }),
      ]);
      expect(days.map(({ day, close, band, fell }) => [formatDayNumber(day), close, band, fell])).toEqual([
        ['2026-02-28', 99, null, null],
        ['2026-03-01', 98, null, null],
        ['2026-03-02', 111, band80, 'above'],
        ['2026-03-03', 90, band80, 'inside'],
      ]);
      expect(countInsideBand(days)).toEqual({ inside: 1, of: 2 });
    });

    it('ignores provisional prices', () => {
      const known = [
        row('2026-03-01', { sequence: 3, btcAtSignal: 99, provisional: true }),
        row('2026-02-27', { sequence: 1, btcAtSignal: 98, btcAtResolution: 97 }),
      ];
      expect(toPriceDays(known).map(({ day, close }) => [formatDayNumber(day), close])).toEqual([
        ['2026-02-28', 98],
        ['2026-03-02', 97],
      ]);
      expect(findNeighbours(known[1], known).endingClose).toBeNull();
      expect(findNeighbours(known[1], [{ ...known[0], provisional: false }, known[1]]).endingClose).toBe(99);
    });

    it('does not count a band without an outcome', () => {
      const days = toPriceDays([row('2026-03-01', { btcAtSignal: 99, band80 })]);
      expect(days.map(({ day, close, fell }) => [formatDayNumber(day), close, fell])).toEqual([
        ['2026-03-02', 99, null],
        ['2026-03-04', null, null],
      ]);
      expect(countInsideBand(days)).toEqual({ inside: 0, of: 0 });
    });

    it('returns no band for VOID, but one for HOLD', () => {
      const of = (status: ScorecardRow['status']) =>
        countInsideBand(toPriceDays([row('2026-03-01', { status, btcAtSignal: 99, btcAtResolution: 95, band80 })]));
      expect(of('VOID')).toEqual({ inside: 0, of: 0 });
      expect(of('HOLD')).toEqual({ inside: 1, of: 1 });
    });
  });

  describe('toRegimeRuns', () => {
    it('starts a run at a change and skips days without a forecast', () => {
      const runs = toRegimeRuns([
        row('2026-03-05', { regime: 'BULL_TREND', riskLevel: 'Low' }),
        row('2026-03-04'),
        row('2026-03-03', { regime: null, riskLevel: null }),
        row('2026-03-02'),
      ]);
      expect(runs.map(({ regime, first, last, days }) => [regime, formatDayNumber(first), formatDayNumber(last), days])).toEqual([
        ['CHOP', '2026-03-02', '2026-03-04', 2],
        ['BULL_TREND', '2026-03-05', '2026-03-05', 1],
      ]);
    });
  });

  it('computes the accuracy of always UP, or null without scored days', () => {
    const rose = (actualDirection: 'UP' | 'DOWN') => row('2026-03-01', { outcome: { actualReturn: 0.1, actualDirection, correct: true } });
    expect(computeAlwaysUpShare([rose('UP'), rose('DOWN'), rose('UP'), rose('UP'), row('2026-03-02')])).toBe(0.75);
    expect(computeAlwaysUpShare([row('2026-03-02')])).toBeNull();
  });

  it('splits days at gaps and keeps their order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 60 })), (numbers) => {
        const days = numbers.toSorted((a, b) => a - b).map((day) => ({ day }));
        const parts = splitAtGaps(days);
        expect(parts.flat()).toEqual(days);
        for (const part of parts) expect(part.at(-1)!.day - part[0].day).toBe(part.length - 1);
        for (const [index, part] of parts.slice(1).entries()) expect(part[0].day - parts[index].at(-1)!.day).toBeGreaterThan(1);
      }),
    );
  });

  it('returns ascending day ticks within the range, limited in number', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 15_000, max: 25_000 }),
        fc.integer({ min: 0, max: 2_000 }),
        fc.integer({ min: 2, max: 12 }),
        (first, length, count) => {
          const days = computeDayTicks(first, first + length, count).map(({ day }) => day);
          expect(days.every((day, index) => day >= first && day <= first + length && (index === 0 || day > days[index - 1]))).toBe(true);
          expect(days.length).toBeLessThanOrEqual(count + 1);
        },
      ),
      { examples: [[15_000, 84, 2]] },
    );
  });

  it('returns evenly spaced value ticks within the range', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
        fc.integer({ min: 2, max: 8 }),
        (low, span, count) => {
          const { ticks } = createScale([low, low + span], [0, 100], count);
          const slack = span * 1e-6;
          expect(ticks.every((tick) => tick >= low - slack && tick <= low + span + slack)).toBe(true);
          expect(ticks.length).toBeLessThanOrEqual(count + 1);
          for (const [index, tick] of ticks.slice(2).entries()) expect(tick - ticks[index + 1]).toBeCloseTo(ticks[1] - ticks[0], 4);
        },
      ),
    );
  });

  describe('markReplayed', () => {
    it('marks replayed rows only among others', () => {
      const marks = (replayed: boolean[]) => markReplayed(replayed.map((one) => ({ replayed: one }))).map((one) => one.replayed);
      expect(marks([false, true, true])).toEqual([false, true, true]);
      expect(marks([true, true])).toEqual([false, false]);
      expect(marks([])).toEqual([]);
    });
  });
});

type Scorecard = ApiResponses['scorecard'];
type Estimate = { value: number; low: number | null; high: number | null };

const BETTER = { value: 0.1, low: 0.02, high: 0.18 };
const UNCLEAR = { value: 0.1, low: -0.02, high: 0.22 };
const SHORT = { value: 0.1, low: null, high: null };

interface Given {
  difference?: Estimate | null;
  climatology?: Estimate | null;
  certainty?: Estimate | null;
  weekly?: Estimate | null;
  quotesAreOurs?: boolean;
  calls?: ('UP' | 'DOWN')[];
  overHeld?: Estimate | null;
}

function rowsOf({
  difference = null,
  climatology = null,
  certainty = null,
  weekly = null,
  quotesAreOurs = false,
  calls = [],
  overHeld = null,
}: Given) {
  const skillOf = (estimate: Estimate | null) => estimate && { brier: 0.25, ...estimate };
  const scorecard = {
    statistics: {
      calls: { n: calls.length, selection: { overHeld }, alwaysUp: difference && { accuracy: 0.5, difference } },
      probabilities: { n: 70, climatologySkill: skillOf(climatology), alwaysUpSkill: skillOf(certainty) },
    },
    marketSkill: { quotesAreOurs, skill: weekly && { weeks: 9, ...weekly } },
    predictions: calls.map((direction) => ({ direction, outcome: { actualDirection: 'UP' } })),
  };
  const [direction, choice, baseRate, , market, certain] = buildSkillRows(scorecard as unknown as Scorecard);
  return { direction, choice, baseRate, market, certain };
}

describe('buildSkillRows', () => {
  it('reports better or worse only when the interval excludes zero', () => {
    expect(rowsOf({ climatology: BETTER }).baseRate).toMatchObject({ remark: 'better: clear of zero', value: 0.1, proves: true });
    expect(rowsOf({ climatology: { value: -0.1, low: -0.18, high: -0.02 } }).baseRate.remark).toBe('worse: clear of zero');
    expect(rowsOf({ climatology: UNCLEAR }).baseRate.remark).toBe('not measurably different from zero');
  });

  it('formats value, interval and count', () => {
    expect(rowsOf({ climatology: UNCLEAR }).baseRate.figures).toBe('+10.0\u00a0% (−2.0\u00a0% to +22.0\u00a0%), 70 outcomes');
  });

  it('draws no estimate without an interval', () => {
    expect(rowsOf({ climatology: SHORT }).baseRate).toMatchObject({
      remark: 'too few days',
      value: null,
      estimate: { value: 0.1 },
    });
    expect(rowsOf({}).baseRate.remark).toBe('base rate not known');
  });

  it('explains a missing comparison of the direction', () => {
    expect(rowsOf({}).direction.remark).toBe('no call resolved yet');
    expect(rowsOf({ calls: ['UP', 'UP'], difference: { value: 0, low: null, high: null } }).direction.remark).toBe(
      'every call was UP: see the choice of days',
    );
    expect(rowsOf({ calls: ['UP', 'DOWN'], difference: SHORT }).direction.remark).toBe('too few DOWN calls');
    expect(rowsOf({ calls: ['UP', 'DOWN'], difference: BETTER }).direction.remark).toBe('better: clear of zero');
  });

  it('compares the days called UP with HOLD days', () => {
    expect(rowsOf({ calls: ['UP'], overHeld: UNCLEAR }).choice).toMatchObject({
      remark: 'not measurably different from zero',
      proves: true,
    });
    expect(rowsOf({ calls: ['UP'], overHeld: SHORT }).choice.remark).toBe('too few days');
    expect(rowsOf({}).choice.remark).toBe('no HOLD or no UP call resolved yet');
  });

  it('counts skill against a market only with foreign quotes', () => {
    expect(rowsOf({ weekly: BETTER }).market).toMatchObject({ remark: 'better: clear of zero', proves: true });
    expect(rowsOf({ weekly: BETTER, quotesAreOurs: true }).market).toMatchObject({
      remark: 'own quotes: no evidence',
      proves: false,
    });
    expect(rowsOf({ quotesAreOurs: true }).market).toMatchObject({ remark: 'no week settled yet', proves: false });
  });

  it('never counts skill against certainty', () => {
    expect(rowsOf({ certainty: BETTER }).certain).toMatchObject({
      proves: false,
      remark: expect.stringContaining('no evidence about direction'),
    });
    expect(rowsOf({}).certain).toMatchObject({ proves: false, remark: 'never wrong so far' });
  });
});
