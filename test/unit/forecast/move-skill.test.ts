import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/forecast/bootstrap.ts';
import { runEProcess } from '../../../src/forecast/challenge.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { computeMoveDifference } from '../../../src/forecast/move-scores.ts';
import { computeMoveSkill, formatMoveVerdict, listMoveDifferences, type MoveDay } from '../../../src/forecast/move-skill.ts';
import { wilsonInterval } from '../../../src/forecast/signal.ts';
import { type Drawn, FIRST, toDays } from '../../support/record/move-days.ts';

describe('the scores of the size of the move', () => {
  const days = toDays([
    { pBig: 0.5, big: true, frequency: 0.25, ewma: 0.5, moveSize: 'WILD' },
    { pBig: 0.2, big: false, frequency: 0.25, ewma: 0.1, moveSize: 'CALM', replayed: true },
    { pBig: 0.8, big: true, frequency: 0.25, ewma: 0.6, moveSize: 'WILD' },
    { pBig: 0.14, big: false, frequency: 0.25, ewma: 0.3, moveSize: 'WILD' },
  ]);
  const skill = computeMoveSkill([...days, { day: FIRST + 4, replayed: false, move: null }], 1);

  it('are those of the days that have one', () => {
    const own = (0.25 + 0.04 + 0.04 + 0.0196) / 4;
    expect(skill).toMatchObject({ n: 4, replayed: 1, bigShare: 0.5 });
    expect(skill.brier).toBeCloseTo(own, 12);
    const frequency = (2 * 0.75 ** 2 + 2 * 0.25 ** 2) / 4;
    expect(skill.references.frequency).toMatchObject({ n: 4, low: null, high: null });
    expect(skill.references.frequency!.brier).toBeCloseTo(frequency, 12);
    expect(skill.references.frequency!.value).toBeCloseTo(1 - own / frequency, 12);
    expect(skill.references.ewma!.brier).toBeCloseTo((0.25 + 0.01 + 0.16 + 0.09) / 4, 12);
    expect(skill.references.garch).toBeNull();
  });

  it('compares with a reference on the days that have it', () => {
    const [first, ...others] = days as (MoveDay & { move: object })[];
    const partly = { ...first!, move: { ...first!.move!, references: { ...first!.move!.references, frequency: null } } };
    const found = computeMoveSkill([partly, ...others], 1);
    expect(found.references.frequency).toMatchObject({ n: 3 });
    expect(found.references.frequency!.own).toBeCloseTo((0.04 + 0.04 + 0.0196) / 3, 12);
    expect(found.tests).toMatchObject({ frequency: { days: 2 }, ewma: { days: 3 } });
  });

  it('have the share of big moves by size and by probability, with intervals', () => {
    expect(skill.bySize).toEqual([
      { moveSize: 'CALM', n: 1, bigShare: 0, interval95: wilsonInterval(0, 1) },
      { moveSize: 'USUAL', n: 0, bigShare: null, interval95: null },
      { moveSize: 'WILD', n: 3, bigShare: 2 / 3, interval95: wilsonInterval(2, 3) },
    ]);
    expect(skill.reliability.map(({ from, n, meanProbability, observedShare }) => [from, n, meanProbability, observedShare])).toEqual([
      [0.1, 1, 0.14, 0],
      [0.2, 1, 0.2, 0],
      [0.5, 1, 0.5, 1],
      [0.8, 1, 0.8, 1],
    ]);
  });

  it('widen their intervals for windows that overlap', () => {
    const [daily, weekly] = [1, 7].map((horizonDays) => computeMoveSkill(days, horizonDays).bySize[2]!.interval95!);
    expect(weekly!.high - weekly!.low).toBeGreaterThan(daily!.high - daily!.low);
  });

  it('have an interval of the skill once the days fill five blocks', () => {
    const long = toDays(Array.from({ length: 90 }, (_, day) => ({ pBig: day % 3 ? 0.3 : 0.5, big: day % 3 === 0, frequency: 0.33 })));
    const { value, low, high } = computeMoveSkill(long, 1).references.frequency!;
    expect(low!).toBeLessThanOrEqual(value);
    expect(high!).toBeGreaterThanOrEqual(value);
  });
});

describe('the test of the size of the move', () => {
  /** Right nearly every day, against a constant. */
  const perfect = (replayed: boolean) =>
    Array.from({ length: 200 }, (_, day) => ({ pBig: day % 4 ? 0.02 : 0.98, big: day % 4 === 0, frequency: 0.25, ewma: 0.3, replayed }));

  it('bets on the differences of Brier scores, day by day', () => {
    const days = toDays(perfect(false)).slice(0, 3);
    const differences = [true, false, false].map((big, index) => ({
      day: FIRST + index,
      difference: computeMoveDifference(big ? 0.98 : 0.02, 0.25, big),
    }));
    expect(listMoveDifferences(days, 'frequency')).toEqual(differences);
  });

  it('proves a forecast that is better, against each reference apart', () => {
    const { tests } = computeMoveSkill(toDays(perfect(false)), 1);
    const { better } = runEProcess(listMoveDifferences(toDays(perfect(false)), 'frequency'), 1);
    expect(tests.frequency).toMatchObject({ days: 200, verdict: 'proven better at 5 %', since: formatDay(better.provenDay!) });
    const worse = toDays(perfect(false).map(({ big, ...one }) => ({ ...one, big, pBig: 0.9, ewma: 0.9 })));
    expect(computeMoveSkill(worse, 1).tests).toMatchObject({
      frequency: { verdict: 'proven worse' },
      ewma: { verdict: 'not proven', since: null, eBetter: 1, eWorse: 1 },
    });
  });

  it('is not moved by replayed days, however good', () => {
    const replayed = computeMoveSkill(toDays(perfect(true)), 1);
    expect(replayed).toMatchObject({ n: 200, replayed: 200, references: { frequency: { value: expect.any(Number) } } });
    const untouched = { days: 0, verdict: 'not proven', since: null, eBetter: 1, eWorse: 1 };
    expect(replayed.tests).toEqual({ frequency: untouched, ewma: untouched });
    const own = toDays([...perfect(true), { pBig: 0.3, big: true, frequency: 0.25 }]);
    expect(computeMoveSkill(own, 1).tests).toEqual({
      frequency: expect.objectContaining({ days: 1, eBetter: expect.closeTo(1, 0) }),
      ewma: expect.objectContaining({ days: 1 }),
    });
    expect(computeMoveSkill(own, 1).tests.frequency).toEqual(computeMoveSkill(own.slice(-1), 1).tests.frequency);
  });

  /** Share of records that ever prove the forecast better. */
  function countProven(
    runs: number,
    horizonDays: number,
    forecast: (truth: number, random: () => number) => Pick<Drawn, 'pBig' | 'frequency'>,
  ) {
    let proven = 0;
    for (let seed = 1; seed <= runs; seed++) {
      const random = createRandom(seed);
      // The volatility of a day is known; a window is big where a uniform number, shared by the windows that overlap, is below its chance.
      const shared = Array.from({ length: 300 / horizonDays + 1 }, random);
      const drawn = Array.from({ length: 300 }, (_, day) => {
        const truth = 0.1 + 0.4 * random();
        return { ...forecast(truth, random), big: shared[Math.floor(day / horizonDays)]! < truth };
      });
      if (runEProcess(listMoveDifferences(toDays(drawn), 'frequency'), horizonDays).better.provenDay !== null) proven++;
    }
    return proven / runs;
  }

  it.each(HORIZONS)(
    'at %i days proves at most one in twenty forecasts that are no better than the reference, whenever one looks',
    (days) => {
      const noisy = (truth: number, random: () => number) => ({
        pBig: Math.min(0.99, Math.max(0.01, truth + 0.2 * (random() - 0.5))),
        frequency: truth,
      });
      expect(countProven(150, days, noisy)).toBeLessThanOrEqual(0.05);
      // As far from the truth as the reference, on the other side: the advantage is 0 on average, and evidence does not decline.
      const opposite = (truth: number, random: () => number) => {
        const error = 0.2 * (random() - 0.5);
        return { pBig: truth + error, frequency: truth - error };
      };
      expect(countProven(150, days, opposite)).toBeLessThanOrEqual(0.05);
      expect(countProven(20, days, (truth) => ({ pBig: truth, frequency: truth }))).toBe(0);
    },
  );
});

describe('the verdict on the size of the move', () => {
  const drawn = Array.from({ length: 92 }, (_, day) => ({
    pBig: day % 3 ? 0.2 : 0.4,
    big: day % 5 === 0,
    frequency: 0.3,
    ewma: 0.25,
    moveSize: (['CALM', 'USUAL', 'WILD'] as const)[day % 3]!,
  }));
  const verdictOf = (days: readonly Drawn[], horizonDays: number) =>
    formatMoveVerdict(computeMoveSkill(toDays(days), horizonDays), horizonDays);

  it('has the skill against both references, and what is proven', () => {
    expect(verdictOf(drawn, 1)).toMatch(
      /^P\(big move\) at 1d on 92 resolved days: Brier skill -?\d+\.\d % \(-?\d+\.\d to -?\d+\.\d\) against the four-year frequency, -?\d+\.\d % \(-?\d+\.\d to -?\d+\.\d\) against EWMA; not proven on this record\.$/,
    );
    expect(verdictOf([{ ...drawn[0]!, replayed: true }], 2)).toBe(
      'P(big move) at 2d on 1 resolved day, 1 of them replayed: Brier skill 26.5 % (no interval yet) against the four-year frequency, 36.0 % (no interval yet) against EWMA; not proven on this record, replayed days do not count.',
    );
  });

  it('says since when, and against which reference', () => {
    const good = Array.from({ length: 200 }, (_, day) => ({ pBig: day % 4 ? 0.02 : 0.98, big: day % 4 === 0, frequency: 0.25 }));
    expect(verdictOf(good, 3)).toMatch(
      /; proven better than the four-year frequency since the forecast of 2026-0\d-\d\d, proven better than EWMA since/,
    );
    const half = good.map(({ pBig, ...one }) => ({ ...one, pBig, ewma: pBig }));
    expect(verdictOf(half, 1)).toMatch(
      /; proven better than the four-year frequency since the forecast of \S+, not proven against EWMA\.$/,
    );
    const bad = good.map(({ pBig, ...one }) => ({ ...one, pBig: 1 - pBig }));
    expect(verdictOf(bad, 1)).toMatch(/; proven worse than the four-year frequency since \S+ \S+ \S+ \S+, proven worse than EWMA since/);
  });

  it('gives shares at 7 days, and never the word skill', () => {
    expect(verdictOf(drawn, 7)).toMatch(
      /^P\(big move\) at 7d on 92 resolved days: big on 21 % \(23 % of 31 CALM, 19 % of 31 USUAL, 20 % of 30 WILD\); Brier score 0\.\d{4}, 0\.\d{4} of the four-year frequency, 0\.\d{4} of EWMA; not proven on this record\.$/,
    );
    for (const days of [[], drawn.slice(0, 1), drawn]) expect(verdictOf(days, 7)).not.toContain('skill');
  });

  it.each(HORIZONS)('of an empty record says that nothing is proven, at %i days', (horizonDays) => {
    expect(verdictOf([], horizonDays)).toBe(`P(big move) at ${horizonDays}d: no resolved day yet, so that nothing is proven.`);
  });
});
