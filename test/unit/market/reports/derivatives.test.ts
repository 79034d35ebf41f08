import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import {
  buildLiquidationBuckets,
  computeRealizedVolatilityPct,
  derivativesSummaryReport,
  estimateLiquidationLevels,
  type LiquidationRules,
  liquidationHeatmapReport,
} from '../../../../src/market/reports/derivatives.ts';
import { between } from '../../../support/record/arbitraries.ts';
import { buildDailyPairs, buildObservations } from '../memory-feed.ts';
import { type Body, buildReportBody } from './report-body.ts';

describe('derivatives summary', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);
  const LAST = DAY - 1;

  describe('derivatives report', () => {
    it('annualizes funding, compares open interest and reports implied and realized volatility', async () => {
      const body = await buildReportBody(derivativesSummaryReport, NOON, {
        fundingRate: buildObservations(
          'fundingRate',
          buildDailyPairs(LAST - 20, LAST, (day) => (day === LAST ? 0.0001 : 0.0003)),
        ),
        openInterest: buildObservations(
          'openInterest',
          buildDailyPairs(LAST - 20, LAST, (day) => (day === LAST ? 12e9 : day === LAST - 7 ? 8e9 : 10e9)),
        ),
        perpBasis: buildObservations('perpBasis', [[LAST, -0.000123]]),
        dvol: buildObservations('dvol', [[LAST, 45.5]]),
        // A return of +/- 1 % every day: 30 of them have a sample deviation of ln(1.01) * sqrt(30 / 29).
        btcClose: buildObservations(
          'btcClose',
          buildDailyPairs(LAST - 60, LAST, (day) => (day % 2 === 0 ? 100 : 101)),
        ),
      });
      expect(body.fundingRate).toMatchObject({
        rate8h: 0.0001,
        annualizedPct: 10.95,
        // (0.0001 + 6 * 0.0003) / 7 * 3 * 365.
        average7dAnnualizedPct: 29.72,
        date: formatDay(LAST),
        stale: false,
      });
      expect(body.openInterest).toMatchObject({ usd: 12e9, change1dPct: 20, change7dPct: 50 });
      expect(body.basis).toMatchObject({ perpetualPct: -0.0123 });
      const realized = Math.log(1.01) * Math.sqrt((30 / 29) * 365) * 100;
      expect(body.impliedVolatility.dvolPct).toBe(45.5);
      expect(body.impliedVolatility.realized30dPct).toBeCloseTo(realized, 2);
      expect(body.impliedVolatility.premiumPoints).toBeCloseTo(45.5 - realized, 1);
    });

    it('has nulls marked stale for missing values and keeps old values', async () => {
      const openInterest = buildObservations('openInterest', [[LAST - 30, 5e9]]);
      const body = await buildReportBody(derivativesSummaryReport, NOON, { openInterest });
      expect(body.fundingRate).toEqual({
        date: null,
        stale: true,
        provisional: false,
        rate8h: null,
        annualizedPct: null,
        average7dAnnualizedPct: null,
      });
      expect(body.openInterest).toMatchObject({ usd: 5e9, change1dPct: null, change7dPct: null, stale: true });
      expect(body.impliedVolatility).toMatchObject({ dvolPct: null, realized30dPct: null, premiumPoints: null });
    });
  });

  describe('computeRealizedVolatilityPct', () => {
    it('returns null with fewer returns than days', () => {
      const closes = (count: number) =>
        buildObservations(
          'btcClose',
          buildDailyPairs(1, count, (day) => 100 + (day % 2)),
        );
      expect(computeRealizedVolatilityPct(closes(30), 30)).toBeNull();
      expect(computeRealizedVolatilityPct(closes(31), 30)).toBeGreaterThan(0);
    });

    it('returns 0 for a constant price', () => {
      expect(
        computeRealizedVolatilityPct(
          buildObservations(
            'btcClose',
            buildDailyPairs(1, 50, () => 100),
          ),
          30,
        ),
      ).toBe(0);
    });
  });
});

describe('liquidation heatmap', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);
  const spotOf = (priceUsd: number) => ({ spot: async () => ({ priceUsd, observedAtMs: NOON, source: 'x', change24hPct: null }) });
  const closesOf = (closes: number[]) =>
    buildObservations(
      'btcClose',
      buildDailyPairs(DAY - closes.length, DAY - 1, (day) => closes[day - DAY + closes.length]),
    );

  describe('buildLiquidationBuckets', () => {
    const levels = [
      { side: 'long' as const, priceUsd: 99.5, usd: 10.9 },
      { side: 'long' as const, priceUsd: 98.5, usd: 5 },
      { side: 'long' as const, priceUsd: 98.2, usd: 2 },
      { side: 'long' as const, priceUsd: 90, usd: 1_000 },
    ];

    it('sums outwards from the price in whole dollars within the range', () => {
      expect(buildLiquidationBuckets(levels, 100, { stepPct: 1, rangePct: 3, direction: -1 })).toEqual([
        { fromUsd: 100, toUsd: 99, distancePct: 1, usd: 10, cumulativeUsd: 10 },
        { fromUsd: 99, toUsd: 98, distancePct: 2, usd: 7, cumulativeUsd: 17 },
        { fromUsd: 98, toUsd: 97, distancePct: 3, usd: 0, cumulativeUsd: 17 },
      ]);
    });
  });

  describe('liquidation heatmap report', () => {
    it('declares an estimate with its method', async () => {
      const body = await buildReportBody(
        liquidationHeatmapReport,
        NOON,
        { btcClose: closesOf([60_000]), openInterest: buildObservations('openInterest', [[DAY - 1, 1_000_000]]) },
        spotOf(60_000),
      );
      expect(body).toMatchObject({ estimate: true, price: 60_000, openInterestUsd: 1_000_000, alreadyReachedUsd: 0, reason: null });
      expect(body.method).toContain('estimate');
      expect(body.assumptions.leverages.reduce((sum: number, { share }: { share: number }) => sum + share, 0)).toBeCloseTo(1, 12);
      expect([body.longs.length, body.shorts.length]).toEqual([25, 25]);
      // 100x is closed half a percent away, 5x 19.5 % away.
      expect(body.longs[0]).toMatchObject({ usd: 40_000, cumulativeUsd: 40_000, distancePct: 1 });
      expect(body.longs[19]).toMatchObject({ usd: 150_000, cumulativeUsd: 500_000, distancePct: 20 });
      expect(body).toMatchObject({ longLiquidationsUsd: 500_000, shortLiquidationsUsd: 500_000 });
    });

    it('never exceeds the open interest, with longs below and shorts above the price', async () => {
      const price = fc.integer({ min: 20_000, max: 150_000 });
      const property = fc.asyncProperty(
        fc.array(price, { minLength: 1, maxLength: 45 }),
        price,
        fc.integer({ min: 0, max: 40_000_000_000 }),
        async (closes, spotUsd, openInterestUsd) => {
          const openInterest = buildObservations('openInterest', [[DAY - 1, openInterestUsd]]);
          const body: Body = await buildReportBody(
            liquidationHeatmapReport,
            NOON,
            { btcClose: closesOf(closes), openInterest },
            spotOf(spotUsd),
          );
          const sum = (side: { usd: number }[]) => side.reduce((total, { usd }) => total + usd, 0);
          expect([sum(body.longs), sum(body.shorts)]).toEqual([body.longLiquidationsUsd, body.shortLiquidationsUsd]);
          expect(sum(body.longs) + sum(body.shorts)).toBeLessThanOrEqual(body.openInterestLeftUsd + 1);
          expect(body.openInterestLeftUsd).toBeLessThanOrEqual(openInterestUsd);
          for (const { fromUsd, toUsd, usd } of body.longs) expect(toUsd < fromUsd && fromUsd <= spotUsd && usd >= 0).toBe(true);
          for (const { fromUsd, toUsd, usd } of body.shorts) expect(toUsd > fromUsd && fromUsd >= spotUsd && usd >= 0).toBe(true);
        },
      );
      await fc.assert(property, { numRuns: 60 });
    });

    it('is empty with a reason without open interest or closes', async () => {
      const empty = { openInterestLeftUsd: null, longs: [], shorts: [], longLiquidationsUsd: null };
      const openInterest = buildObservations('openInterest', [[DAY - 1, 5]]);
      expect(await buildReportBody(liquidationHeatmapReport, NOON, { btcClose: closesOf([1]) })).toMatchObject({
        ...empty,
        reason: 'The open interest is unknown',
      });
      expect(await buildReportBody(liquidationHeatmapReport, NOON, { openInterest })).toMatchObject({
        ...empty,
        reason: 'No daily close is available',
      });
    });

    it('throws without a price', async () => {
      const none = { spot: () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'none')) };
      await expect(buildReportBody(liquidationHeatmapReport, NOON, {}, none)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    });
  });
});

const rules: LiquidationRules = {
  entryDays: 3,
  halfLifeDays: 1,
  maintenanceMargin: 0.01,
  leverages: [
    { leverage: 5, share: 0.75 },
    { leverage: 20, share: 0.25 },
  ],
};
const rounded = ({ levels, clearedUsd }: ReturnType<typeof estimateLiquidationLevels>) => ({
  levels: levels.map(({ side, priceUsd, usd }) => [side, Math.round(priceUsd * 100) / 100, Math.round(usd)]),
  clearedUsd: Math.round(clearedUsd),
});

describe('estimateLiquidationLevels', () => {
  it('places both sides at the entry minus margin, by leverage', () => {
    expect(rounded(estimateLiquidationLevels(800, Float64Array.of(100), 100, rules))).toEqual({
      levels: [
        ['long', 81, 300],
        ['short', 119, 300],
        ['long', 96, 100],
        ['short', 104, 100],
      ],
      clearedUsd: 0,
    });
  });

  it('weights older entries less and ignores those before the window', () => {
    const { levels } = estimateLiquidationLevels(7_000, Float64Array.of(500, 100, 100, 100), 100, rules);
    const entered = levels.filter(({ side, priceUsd }) => side === 'long' && Math.round(priceUsd) === 81).map(({ usd }) => Math.round(usd));
    expect(entered).toEqual([1_500, 750, 375]);
    expect(levels.every(({ priceUsd }) => priceUsd < 150)).toBe(true);
  });

  it('removes levels that a later close or the price has reached', () => {
    // The dip to 95 took the longs at 96 of the first day; the price of 105 takes the shorts at 104 and 98.8 of both.
    const estimate = rounded(estimateLiquidationLevels(900, Float64Array.of(100, 95), 105, rules));
    expect(estimate.levels).toEqual([
      ['long', 76.95, 225],
      ['short', 113.05, 225],
      ['long', 91.2, 75],
      ['long', 81, 113],
      ['short', 119, 113],
    ]);
    expect(estimate.clearedUsd).toBe(75 + 37.5 + 37.5);
  });

  it('sums to the open interest, with each side beyond the price', () => {
    const price = between(1_000, 200_000);
    const property = fc.property(
      between(0, 1e11),
      fc.array(price, { minLength: 1, maxLength: 40 }),
      price,
      (openInterestUsd, closes, spotUsd) => {
        const { levels, clearedUsd } = estimateLiquidationLevels(openInterestUsd, Float64Array.from(closes), spotUsd, {
          ...rules,
          entryDays: 30,
        });
        const ahead = levels.reduce((sum, { usd }) => sum + usd, 0);
        expect(ahead + clearedUsd).toBeCloseTo(openInterestUsd, 1);
        for (const { side, priceUsd } of levels) expect(side === 'long' ? priceUsd < spotUsd : priceUsd > spotUsd).toBe(true);
      },
    );
    fc.assert(property);
  });
});
