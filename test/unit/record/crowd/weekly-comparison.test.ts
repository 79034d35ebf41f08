import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { compareWeekly, toCrowdPin } from '../../../../src/record/crowd.ts';
import type { WagerDoc } from '../../../../src/wager/wagers.ts';
import { buildPricedWager, buildTestPin } from './crowd-pin-fixture.ts';

const FRIDAY = parseDay('2026-02-13');
const NEXT_FRIDAY = FRIDAY + 7;

describe('crowd against oracle', () => {
  it('takes one strike per week, the first pinned, newest week first', () => {
    const pins = [
      buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, strikeUsd: 1, qMarket: 0.4, winner: 'NO' }),
      buildTestPin({ day: FRIDAY - 7, decidingDay: FRIDAY, strikeUsd: 2, qMarket: 0.9, winner: 'YES' }),
      buildTestPin({ day: FRIDAY - 1, decidingDay: NEXT_FRIDAY, strikeUsd: 3, winner: 'YES' }),
    ];
    const { weeks } = compareWeekly(pins, null);
    expect(weeks.map(({ weekId, strike, date }) => [weekId, strike, date])).toEqual([
      ['2026-W08', 3, formatDay(FRIDAY - 1)],
      ['2026-W07', 1, formatDay(FRIDAY - 8)],
    ]);
  });

  it('scores both sides by the outcome, in weekly pairs', () => {
    const pins = [
      buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, qMarket: 0.6, pModel: 0.8, winner: 'YES' }),
      buildTestPin({ day: FRIDAY - 1, decidingDay: NEXT_FRIDAY, qMarket: 0.6, pModel: 0.8, winner: 'NO' }),
    ];
    const { weeks, totals } = compareWeekly(pins, null);
    expect(weeks[1]).toMatchObject({ status: 'SETTLED', closer: 'oracle', btcPrice: 99_000 });
    expect(weeks[1].market!.brier).toBe(0.16);
    expect(weeks[1].oracle!.logLoss).toBe(0.22314355);
    expect(weeks[0]).toMatchObject({ winner: 'NO', closer: 'market' });
    expect(totals).toMatchObject({ weeks: 2, oracleCloser: 1, marketCloser: 1 });
    // Differences 0.04 - 0.16 and 0.64 - 0.36.
    expect(totals.brierDifference!.mean).toBe(0.08);
    expect(totals.market).toEqual({ brier: 0.26, logLoss: 0.71355818 });
    expect(totals.brierDifference!.low!).toBeLessThan(-0.12);
    expect(totals.verdict).toContain('cannot be distinguished');
  });

  it('scores neither side in a week whose market has no winner, and says so where that is readable', () => {
    const settledAt = new Date('2026-02-14T00:10:00Z');
    const pins = [buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, qMarket: 0.6, pModel: 0.8, settledAt })];
    const { weeks, totals } = compareWeekly(pins, null);
    expect(weeks).toMatchObject([{ status: 'VOID', winner: null, market: null, oracle: null, closer: null }]);
    expect(totals).toMatchObject({ weeks: 0, oracleCloser: 0, marketCloser: 0 });
    expect(compareWeekly(pins, FRIDAY - 9).weeks).toMatchObject([{ status: 'PENDING', gated: true }]);
  });

  it('returns the pinned order book, of gated weeks too', () => {
    const levels = { bids: [{ price: 0.47, size: 10 }], asks: [{ price: 0.49, size: 7 }] };
    const pinned = buildPricedWager({ day: FRIDAY - 8, decidingDay: FRIDAY, qMarket: 0.48 });
    const bookOf = (wager: WagerDoc) => compareWeekly([toCrowdPin(wager, null)], FRIDAY - 9).weeks[0].book;
    expect(bookOf({ ...pinned, book: levels })).toEqual({ bid: 0.47, ask: 0.49, fee: 0, ...levels });
    expect(bookOf(pinned)).toEqual({ bid: 0.47, ask: 0.49, fee: 0, bids: [], asks: [] });
    expect(bookOf({ ...pinned, quote: null })).toBeNull();
  });

  it('rounds scores without floating-point noise', () => {
    const pins = [
      buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, qMarket: 0.48, pModel: 0.7, winner: 'YES' }),
      buildTestPin({ day: FRIDAY - 1, decidingDay: NEXT_FRIDAY, qMarket: 0.1, pModel: 0.3, winner: 'NO' }),
    ];
    const { weeks, totals } = compareWeekly(pins, null);
    expect(weeks[1]).toMatchObject({ market: { brier: 0.2704 }, oracle: { brier: 0.09 } });
    const published = JSON.stringify([weeks, totals]).match(/\d\.\d+/g)!;
    expect(Math.max(...published.map((figure) => figure.length))).toBeLessThanOrEqual(10);
  });

  it.each([
    ['better', 0.9, 'the oracle was better than the crowd'],
    ['worse', 0.1, 'the crowd was better than the oracle'],
  ])('states when the oracle is %s beyond the interval', (_name, pModel, verdict) => {
    const pins = Array.from({ length: 12 }, (_, index) =>
      buildTestPin({ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket: 0.5 + index / 1000, pModel, winner: 'YES' }),
    );
    expect(compareWeekly(pins, null).totals.verdict).toContain(verdict);
  });

  it('makes no claim from one settled week or none', () => {
    const pin = buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, winner: 'YES' });
    expect(compareWeekly([pin], null).totals).toMatchObject({ weeks: 1, verdict: 'one settled week: no claim can be made' });
    expect(compareWeekly([pin], null).weeks[0].closer).toBe('tie');
    expect(compareWeekly([], null)).toEqual({
      weeks: [],
      totals: expect.objectContaining({
        weeks: 0,
        market: null,
        oracle: null,
        brierDifference: null,
        verdict: expect.stringContaining('no claim'),
      }),
    });
  });

  it('has market data only for days after the last public one, regardless of probability and winner', () => {
    const published = buildTestPin({ day: FRIDAY - 8, decidingDay: FRIDAY, winner: 'YES' });
    const shown = (pModel: number, winner: 'YES' | 'NO' | null) =>
      compareWeekly([published, buildTestPin({ day: FRIDAY - 1, decidingDay: NEXT_FRIDAY, qMarket: 0.55, pModel, winner })], FRIDAY - 2);
    expect(shown(0.9, 'YES')).toEqual(shown(0.1, 'NO'));
    expect(shown(0.9, null)).toEqual(shown(0.1, 'NO'));
    expect(shown(0.9, 'YES').weeks[0]).toMatchObject({
      gated: true,
      status: 'PENDING',
      marketProbability: 0.55,
      oracleProbability: null,
      winner: null,
      market: null,
      oracle: null,
      closer: null,
    });
    expect(shown(0.9, 'YES').totals.weeks).toBe(1);
  });
});
