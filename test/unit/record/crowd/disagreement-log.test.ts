import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Day, parseDay } from '../../../../src/forecast/day.ts';
import { buildDisagreementLog, compareWeekly } from '../../../../src/record/crowd.ts';
import type { Side } from '../../../../src/wager/sizing.ts';
import { buildTestPin } from './crowd-pin-fixture.ts';

const FRIDAY = parseDay('2026-02-13');

/** One week per entry: market price, model probability, winner. */
const log = (weeks: readonly (readonly [number, number, Side | null])[], through: Day | null = null) => {
  const pins = weeks.map(([qMarket, pModel, winner], index) =>
    buildTestPin({ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket, pModel, winner }),
  );
  return buildDisagreementLog(compareWeekly(pins, through).weeks);
};

describe('the log of disagreements', () => {
  it.each([
    ['on opposite sides of one half', 0.49, 0.51, true, true],
    ['ten points apart', 0.6, 0.7, true, false],
    ['ten points apart, whatever floating point makes of it', 0.7, 0.8, true, false],
    ['less than ten points apart on one side', 0.6, 0.6999, false, false],
    ['at one half and near it', 0.5, 0.59, false, false],
  ])('includes weeks in which they are %s', (_name, market, oracle, isIn, oppositeSides) => {
    const { disagreements } = log([[market, oracle, 'YES']]);
    expect(disagreements).toHaveLength(isIn ? 1 : 0);
    if (isIn) expect(disagreements[0]).toMatchObject({ oppositeSides, difference: expect.closeTo(oracle - market, 9) });
  });

  it('has both probabilities, the winner and the running score, newest first', () => {
    const { disagreements, disagreementTotals } = log([
      [0.4, 0.6, 'YES'],
      [0.5, 0.52, 'YES'],
      [0.55, 0.7, 'NO'],
      [0.3, 0.6, 'NO'],
      [0.3, 0.6, null],
    ]);
    expect(disagreements.map(({ weekId, right, runningScore }) => [weekId, right, runningScore.oracle, runningScore.market])).toEqual([
      ['2026-W11', null, 1, 2],
      ['2026-W10', 'market', 1, 2],
      ['2026-W09', 'market', 1, 1],
      ['2026-W07', 'oracle', 1, 0],
    ]);
    expect(disagreements[3]).toMatchObject({ marketProbability: 0.4, oracleProbability: 0.6, winner: 'YES', status: 'SETTLED' });
    expect(disagreementTotals).toMatchObject({ disagreements: 4, oppositeSides: 3, settled: 3, oracleRight: 1, marketRight: 2 });
    expect(disagreementTotals.oracleShare).toBe(0.33333333);
    expect(disagreementTotals.verdict).toMatch(/^where they disagreed, oracle and crowd cannot be distinguished: 1 of 3 /);
  });

  it('states which side was right more often when the interval excludes one half', () => {
    const always = (winner: Side) => log(Array.from({ length: 12 }, () => [0.4, 0.6, winner] as const)).disagreementTotals.verdict;
    expect(always('YES')).toMatch(/^the oracle was right more often/);
    expect(always('NO')).toMatch(/^the crowd was right more often/);
    expect(log([]).disagreementTotals).toMatchObject({ settled: 0, oracleShare: null, verdict: expect.stringContaining('no claim') });
  });

  it('omits gated weeks, regardless of price and winner', () => {
    const through = FRIDAY - 8;
    const publicLog = log([[0.4, 0.6, 'YES']], through);
    expect(publicLog.disagreements).toHaveLength(1);
    for (const hidden of [[0.4, 0.9, 'YES'] as const, [0.4, 0.41, 'NO'] as const, [0.4, 0.1, null] as const]) {
      expect(log([[0.4, 0.6, 'YES'], hidden], through)).toEqual(publicLog);
    }
  });

  it('counts every settled disagreement for the side with the lower score', () => {
    const price = fc.integer({ min: 1, max: 9_999 }).map((bps) => bps / 10_000);
    const weeks = fc.array(fc.tuple(price, price, fc.constantFrom<Side | null>('YES', 'NO', null)), { maxLength: 20 });
    fc.assert(
      fc.property(weeks, (drawn) => {
        const { disagreements, disagreementTotals: totals } = log(drawn);
        expect(totals.oracleRight + totals.marketRight).toBe(totals.settled);
        expect(totals.settled).toBe(disagreements.filter(({ winner }) => winner !== null).length);
        expect(totals.settled === 0 ? { oracle: 0, market: 0 } : disagreements[0].runningScore).toEqual({
          oracle: totals.oracleRight,
          market: totals.marketRight,
        });
        for (const { oppositeSides, right, winner, oracleProbability } of disagreements.filter((one) => one.winner !== null)) {
          if (oppositeSides) expect(right).toBe(oracleProbability > 0.5 === (winner === 'YES') ? 'oracle' : 'market');
        }
      }),
    );
  });
});
