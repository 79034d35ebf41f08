import { describe, expect, it } from 'vitest';
import { computeEffectiveCount } from '../../../../src/forecast/bootstrap.ts';
import { summarizeRecord } from '../../../../src/forecast/record-statistics.ts';
import { computeShareInterval } from '../../../../src/forecast/signal.ts';
import type { RecordRow, ScoredForecast } from '../../../../src/forecast/statistics.ts';
import { scored } from './scored-forecasts.ts';

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
