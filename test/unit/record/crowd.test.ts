import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Day, formatDay, parseDay } from '../../../src/forecast/day.ts';
import { wilsonInterval } from '../../../src/forecast/signal.ts';
import {
  buildDisagreementLog,
  compareWeekly,
  computeAccuracyByVenue,
  computeCrowdAccuracy,
  computeMarketSkill,
  type SettledPin,
  scoreByDifference,
  toCrowdPin,
} from '../../../src/record/crowd.ts';
import type { Side } from '../../../src/wager/sizing.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';
import { buildPricedWager, buildTestPin, type PricedOptions } from './crowd-pin-fixture.ts';

describe('crowd accuracy', () => {
  const FRIDAY = parseDay('2026-02-13');
  const pin = (options: Partial<PricedOptions>) =>
    buildTestPin({ day: FRIDAY - 3, decidingDay: FRIDAY, winner: 'YES', ...options }) as SettledPin;

  describe('the accuracy of the crowd', () => {
    it('is null before the first settled market', () => {
      const empty = computeCrowdAccuracy([]);
      expect(empty).toMatchObject({
        markets: 0,
        weeks: 0,
        brier: null,
        logLoss: null,
        calls: 0,
        hits: 0,
        hitRate: null,
        hitRateInterval95: null,
      });
      expect(empty.reliability).toHaveLength(10);
      expect(
        empty.reliability.every(({ n, meanProbability, observedShare }) => n === 0 && meanProbability === null && observedShare === null),
      ).toBe(true);
    });

    it('counts each market by its first price, and the evidence by weeks', () => {
      const accuracy = computeCrowdAccuracy([
        pin({ day: FRIDAY - 4, strikeUsd: 1, qMarket: 0.8 }),
        pin({ day: FRIDAY - 3, strikeUsd: 1, qMarket: 0.2 }),
        pin({ day: FRIDAY - 2, strikeUsd: 2, qMarket: 0.6, winner: 'NO' }),
        pin({ day: FRIDAY - 1, decidingDay: FRIDAY + 7, qMarket: 0.3, winner: 'NO' }),
      ]);
      expect(accuracy).toMatchObject({ markets: 3, weeks: 2, calls: 3, hits: 2 });
      expect(accuracy.brier).toBe(0.16333333);
      expect(accuracy.logLoss).toBe(0.49870308);
      expect(accuracy.hitRate).toBe(0.66666667);
      const { low, high } = wilsonInterval((2 / 3) * 2, 2);
      expect(accuracy.hitRateInterval95!.low).toBeCloseTo(low, 8);
      expect(accuracy.hitRateInterval95!.high).toBeCloseTo(high, 8);
      const figures = JSON.stringify(accuracy).match(/\d\.\d+/g)!;
      expect(Math.max(...figures.map((figure) => figure.length))).toBeLessThanOrEqual(10);
    });

    it('has bins whose intervals count weeks, not markets', () => {
      const { reliability } = computeCrowdAccuracy([
        pin({ strikeUsd: 1, qMarket: 0.61 }),
        pin({ strikeUsd: 2, qMarket: 0.65, winner: 'NO' }),
        pin({ strikeUsd: 3, decidingDay: FRIDAY + 7, qMarket: 0.69 }),
      ]);
      const { low, high } = wilsonInterval((2 / 3) * 2, 2);
      expect(reliability[6]).toMatchObject({ n: 3, effectiveN: 2, observedShare: 0.66666667 });
      expect(reliability[6].interval95!.low).toBeCloseTo(low, 8);
      expect(reliability[6].interval95!.high).toBeCloseTo(high, 8);
      expect(reliability[5]).toMatchObject({ n: 0, effectiveN: 0, interval95: null });
    });

    it('does not count a price of one half as a call', () => {
      expect(computeCrowdAccuracy([pin({ qMarket: 0.5 })])).toMatchObject({
        markets: 1,
        calls: 0,
        hitRate: null,
        hitRateInterval95: null,
        brier: 0.25,
      });
    });

    it('is also computed per venue, without mixing them', () => {
      const pins = [pin({ venue: 'polymarket', qMarket: 0.9 }), pin({ venue: 'paper', qMarket: 0.1 })];
      const [paper, polymarket] = computeAccuracyByVenue(pins);
      expect(paper).toMatchObject({ venue: 'paper', markets: 1, hits: 0 });
      expect(polymarket).toMatchObject({ venue: 'polymarket', markets: 1, hits: 1 });
    });
  });
});

describe('disagreement log', () => {
  const FRIDAY = parseDay('2026-02-13');

  /** One week per entry: market price, model probability, winner. */
  const log = (weeks: readonly (readonly [number, number, Side | null])[], through: Day | null = null) => {
    const pins = weeks.map(([qMarket, pModel, winner], index) =>
      buildTestPin({ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket, pModel, winner }),
    );
    return buildDisagreementLog(compareWeekly(pins, through).weeks);
  };

  describe('scores by difference', () => {
    it('are of settled weeks, each in the bin of its distance', () => {
      const pins = [
        [0.5, 0.5499, 'YES'],
        [0.5, 0.55, 'YES'],
        [0.7, 0.8, 'NO'],
        [0.4, 0.6, 'YES'],
        [0.3, 0.9, 'YES'],
        [0.1, 0.9, null],
      ].map(([qMarket, pModel, winner], index) =>
        buildTestPin({
          ...{ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index },
          ...{ qMarket: qMarket as number, pModel: pModel as number, winner: winner as Side | null },
        }),
      );
      const bins = scoreByDifference(compareWeekly(pins, null).weeks);
      expect(bins.map(({ from, to, n }) => [from, to, n])).toEqual([
        [0, 0.05, 1],
        [0.05, 0.1, 1],
        [0.1, 0.2, 1],
        [0.2, null, 2],
      ]);
      expect(bins[2]).toMatchObject({ oracleBrier: 0.64, marketBrier: 0.49 });
      expect(bins[3]).toMatchObject({ oracleBrier: 0.085, marketBrier: 0.425 });
      expect(scoreByDifference(compareWeekly(pins, FRIDAY - 9).weeks).every(({ n, oracleBrier }) => n === 0 && oracleBrier === null)).toBe(
        true,
      );
    });
  });

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
});

describe('weekly comparison', () => {
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
});

describe('market skill', () => {
  const FRIDAY = parseDay('2026-02-13');
  const LATER = FRIDAY + 1_000;

  const week = (index: number, options: Partial<PricedOptions> = {}) =>
    buildTestPin({
      ...{ day: FRIDAY - 8 + 7 * index, decidingDay: FRIDAY + 7 * index, qMarket: 0.5, pModel: 0.6 },
      ...{ winner: index % 3 === 0 ? 'NO' : 'YES', ...options },
    });

  describe('skill against the market', () => {
    it('is one minus the ratio of the Brier scores on the settled weeks', () => {
      const pins = [0, 1, 2].map((index) => week(index));
      const oracleBrier = (0.36 + 0.16 + 0.16) / 3;
      expect(computeMarketSkill(pins, LATER)).toEqual({
        weeks: 3,
        oracleBrier: expect.closeTo(oracleBrier, 8),
        marketBrier: 0.25,
        value: expect.closeTo(1 - oracleBrier / 0.25, 8),
        low: expect.any(Number),
        high: expect.any(Number),
      });
      expect(computeMarketSkill(pins.slice(0, 1), LATER)).toMatchObject({ weeks: 1, low: null, high: null });
    });

    it('agrees with the weekly comparison on any weeks', () => {
      const probability = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);
      const weeks = fc.array(
        fc.record({ qMarket: probability, pModel: probability, winner: fc.constantFrom('YES' as const, 'NO' as const) }),
        {
          minLength: 2,
          maxLength: 20,
        },
      );
      fc.assert(
        fc.property(weeks, (drawn) => {
          const pins = drawn.map((one, index) => week(index, one));
          const { value, low, high, oracleBrier, marketBrier } = computeMarketSkill(pins, LATER)!;
          const { totals } = compareWeekly(pins, LATER);
          expect([oracleBrier, marketBrier]).toEqual([totals.oracle!.brier, totals.market!.brier]);
          expect(low!).toBeLessThanOrEqual(value);
          expect(high!).toBeGreaterThanOrEqual(value);
          expect(high!).toBeLessThanOrEqual(1);
          const { brierDifference, market } = totals;
          // Rounding to eight digits may change the sign.
          fc.pre([brierDifference!.low!, brierDifference!.high!].every((bound) => bound === 0 || Math.abs(bound) > 1e-6));
          expect([value > 0, low! > 0, high! < 0]).toEqual([
            brierDifference!.mean < 0,
            brierDifference!.high! < 0,
            brierDifference!.low! > 0,
          ]);
          expect(low! * market!.brier).toBeCloseTo(-brierDifference!.high!, 4);
        }),
      );
    });

    it('has the scores of the weekly comparison to the last digit, where a mean of 32 weeks ends in a half of it', () => {
      const probability = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);
      const weeks = fc.array(fc.record({ qMarket: probability, pModel: probability }), { minLength: 32, maxLength: 32 });
      fc.assert(
        fc.property(weeks, (drawn) => {
          const pins = drawn.map((one, index) => week(index, one));
          const { market, oracle } = compareWeekly(pins, LATER).totals;
          const { oracleBrier, marketBrier } = computeMarketSkill(pins, LATER)!;
          expect([oracleBrier, marketBrier]).toEqual([oracle!.brier, market!.brier]);
        }),
        { numRuns: 300 },
      );
    });

    it('does not differ from zero after five weeks of small gains', () => {
      const gains = [0.52, 0.505, 0.47, 0.51, 0.42];
      const pins = gains.map((pModel, index) => week(index, { pModel, winner: pModel > 0.5 ? 'YES' : 'NO' }));
      const { value, low, high } = computeMarketSkill(pins, LATER)!;
      expect(value).toBeGreaterThan(0.1);
      expect(low).toBeLessThan(0);
      expect(high).toBeGreaterThan(0);
    });

    it('is finite against a market that was certain and right in all weeks but one', () => {
      const pins = Array.from({ length: 12 }, (_, index) => week(index, { qMarket: index === 5 ? 0.5 : 1, winner: 'YES' }));
      const figures = Object.values(computeMarketSkill(pins, LATER)!);
      expect(figures).toHaveLength(6);
      for (const figure of figures) expect(figure).toSatisfy(Number.isFinite);
    });

    it('excludes open weeks and weeks that are not public', () => {
      const publicWeeks = [0, 1, 2, 3, 4, 5].map((index) => week(index));
      const through = publicWeeks[4].day;
      const without = computeMarketSkill(publicWeeks.slice(0, 5), through);
      expect(without!.weeks).toBe(5);
      expect(computeMarketSkill(publicWeeks, through)).toEqual(without);
      expect(computeMarketSkill([...publicWeeks.slice(0, 5), week(5, { pModel: 0.01, winner: 'YES' })], through)).toEqual(without);
      expect(computeMarketSkill([...publicWeeks.slice(0, 5), week(5, { winner: null })], LATER)).toEqual(without);
    });

    it('is null before the first settled week, and against a market that was never wrong', () => {
      expect(computeMarketSkill([], LATER)).toBeNull();
      expect(computeMarketSkill([week(0, { winner: null })], LATER)).toBeNull();
      expect(computeMarketSkill([week(1, { qMarket: 1 })], LATER)).toBeNull();
    });
  });
});
