import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { toInstantMs } from '../../../../../src/forecast/day.ts';
import { buildLiquidationBuckets, liquidationHeatmapReport } from '../../../../../src/market/reports/derivatives.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { type Body, buildReportBody } from '../report-body.ts';

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
