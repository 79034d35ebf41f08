import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { economicIndicatorsReport, interestRatesReport, macroCorrelationReport } from '../../../../src/market/reports/macro.ts';
import { buildDailyPairs, buildObservations } from '../memory-feed.ts';
import { buildReportBody } from './report-body.ts';

describe('macro correlation', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);
  const wave = (day: number) => 100 + 10 * Math.sin(day * 1.7);
  const btcClose = buildObservations('btcClose', buildDailyPairs(DAY - 800, DAY - 1, wave));

  describe('macro correlation report', () => {
    it('returns values, correlations, windows and pairs', async () => {
      const sp500 = buildObservations(
        'sp500',
        buildDailyPairs(DAY - 800, DAY - 1, (day) => 3 * wave(day)),
      );
      const gold = buildObservations(
        'gold',
        buildDailyPairs(DAY - 800, DAY - 1, (day) => 2_000 / wave(day)),
      );
      const body = await buildReportBody(macroCorrelationReport, NOON, { btcClose, sp500, gold });
      expect(body.sp500).toMatchObject({ correlation: 1, pairs: 91, windowDays: 90, date: formatDay(DAY - 1), stale: false });
      expect(body.sp500.change5d).toBe(Math.round((wave(DAY - 1) / wave(DAY - 6) - 1) * 10_000) / 100);
      expect(body.goldBtcRatio).toMatchObject({ correlation: -1, value: Math.round((2_000 / wave(DAY - 1) ** 2) * 1e6) / 1e6 });
      expect(body.dxy).toMatchObject({ value: null, correlation: null, change5d: null, pairs: 0, date: null, stale: true });
      expect(body.ismPmi).toMatchObject({ value: null, correlation: null, windowDays: 730 });
      expect(body.stale).toBe(true);
    });

    it('keeps the last value and correlation of a stale series', async () => {
      const dxy = buildObservations(
        'dxy',
        buildDailyPairs(DAY - 800, DAY - 200, (day) => 1 / wave(day)),
      );
      const body = await buildReportBody(macroCorrelationReport, NOON, { btcClose, dxy });
      expect(body.dxy).toMatchObject({ correlation: -1, pairs: 91, stale: true, date: formatDay(DAY - 200) });
      expect(body.dxy.value).not.toBeNull();
    });
  });
});

describe('rates', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);

  describe('economic indicators', () => {
    it('have the last and the previous value', async () => {
      const body = await buildReportBody(economicIndicatorsReport, NOON, {
        pmi: buildObservations('pmi', [
          [DAY - 33, 48.2],
          [DAY - 3, 50.1],
        ]),
        gold: buildObservations('gold', [[DAY - 20, 2_345.6]]),
      });
      expect(body.pmi).toEqual({
        title: 'ISM manufacturing PMI, first print',
        unit: 'index',
        value: 50.1,
        previous: 48.2,
        change: 1.9,
        date: formatDay(DAY - 3),
        previousDate: formatDay(DAY - 33),
        stale: false,
        provisional: false,
      });
      expect(body.gold).toMatchObject({ value: 2_345.6, previous: null, change: null, stale: true });
      expect(body.vix).toMatchObject({ value: null, previous: null, change: null, date: null, stale: true });
      for (const name of ['us10y', 'us2y', 'fedFunds', 'dxy', 'sp500']) expect(body).toHaveProperty(name);
      expect(body.inputs).toHaveLength(8);
    });
  });

  describe('interest rates', () => {
    const daily = (series: 'us2y' | 'us10y' | 'fedFunds', last: number, value: (day: number) => number) =>
      buildObservations(series, buildDailyPairs(DAY - 90, last, value));
    const policyRate = buildObservations('policyRate', [
      [DAY - 80, 5],
      [DAY - 50, 4.75],
      [DAY - 20, 4.5],
    ]);

    it('compute the slope on the last day with both yields', async () => {
      const body = await buildReportBody(interestRatesReport, NOON, {
        us2y: daily('us2y', DAY - 1, (day) => (day > DAY - 10 ? 4.4 : 4.1)),
        us10y: daily('us10y', DAY - 2, () => 4.123),
        fedFunds: daily('fedFunds', DAY - 2, () => 4.33),
        policyRate,
      });
      expect(body).toMatchObject({ slope10y2y: -27.7, slopeDate: formatDay(DAY - 2), inverted: true });
      expect(body.us2y).toMatchObject({ value: 4.4, change30d: 0.3, date: formatDay(DAY - 1) });
      expect(body.us10y).toMatchObject({ value: 4.123, change30d: 0 });
      // The value of 30 days before the last is the one of that month.
      expect(body.policyRate).toMatchObject({ value: 4.5, change30d: -0.25, stale: false });
      expect(body.units).toMatchObject({ slope10y2y: 'basis points' });
    });

    it('are not inverted when the 10-year yield is higher', async () => {
      const body = await buildReportBody(interestRatesReport, NOON, {
        us2y: daily('us2y', DAY - 1, () => 3.5),
        us10y: daily('us10y', DAY - 1, () => 4),
      });
      expect(body).toMatchObject({ slope10y2y: 50, inverted: false });
    });

    it('return no slope with one yield', async () => {
      const body = await buildReportBody(interestRatesReport, NOON, { us10y: daily('us10y', DAY - 1, () => 4) });
      expect(body).toMatchObject({ slope10y2y: null, slopeDate: null, inverted: null, us2y: { value: null, change30d: null } });
    });
  });
});
