import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { computeRealizedVolatilityPct, derivativesSummaryReport } from '../../../../../src/market/reports/derivatives.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { buildReportBody } from '../report-body.ts';

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
