import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { Feed } from '../../../../src/market/feed.ts';
import { btcPriceReport, fearGreedReport, sthPnlRatioReport } from '../../../../src/market/reports/bitcoin.ts';
import { buildDailyPairs, buildObservations } from '../memory-feed.ts';
import { buildReportBody, QUARTER_HOUR_MS } from './report-body.ts';

describe('btc price', () => {
  const DAY = 20_000;
  const AT = toInstantMs(DAY, 10);

  const aged = (ageMs: number): Partial<Feed> => ({
    spot: async (atMs) => ({ priceUsd: 65_432.101, observedAtMs: atMs - ageMs, source: 'median of a, b', change24hPct: -1.23456 }),
  });
  const none: Partial<Feed> = { spot: () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'no price at all')) };

  describe('spot price', () => {
    it('returns change, age and source', async () => {
      expect(await buildReportBody(btcPriceReport, AT, {}, aged(QUARTER_HOUR_MS))).toEqual({
        success: true,
        price: 65_432.1,
        change24h: -1.23,
        currency: 'USD',
        priceSource: 'median of a, b',
        source: 'memory',
        kind: 'live',
        timestamp: new Date(AT - QUARTER_HOUR_MS).toISOString(),
        asOf: new Date(AT).toISOString(),
        ageSeconds: 900,
        stale: false,
        inputs: [
          {
            series: 'spot',
            source: 'median of a, b',
            lastObserved: new Date(AT - QUARTER_HOUR_MS).toISOString(),
            observedAt: new Date(AT - QUARTER_HOUR_MS).toISOString(),
            ageSeconds: 900,
            stale: false,
            provisional: false,
          },
        ],
      });
    });

    it('is marked stale when old', async () => {
      expect(await buildReportBody(btcPriceReport, AT, {}, aged(QUARTER_HOUR_MS + 1))).toMatchObject({
        price: 65_432.1,
        stale: true,
        ageSeconds: 900,
      });
      expect(await buildReportBody(btcPriceReport, AT, {}, aged(9 * 86_400_000))).toMatchObject({
        price: 65_432.1,
        stale: true,
        ageSeconds: 777_600,
      });
    });

    it('falls back to the last daily close', async () => {
      const btcClose = buildObservations('btcClose', [
        [DAY - 40, 50_000],
        [DAY - 39, 51_000],
      ]);
      expect(await buildReportBody(btcPriceReport, AT, { btcClose }, none)).toMatchObject({
        price: 51_000,
        change24h: 2,
        stale: true,
        priceSource: 'daily close of test btcClose',
        timestamp: new Date(toInstantMs(DAY - 38)).toISOString(),
      });
    });

    it('throws PRICE_UNAVAILABLE only before the first price', async () => {
      await expect(buildReportBody(btcPriceReport, AT, {}, none)).rejects.toMatchObject({
        code: 'PRICE_UNAVAILABLE',
        message: 'no price at all',
      });
    });

    it('rethrows other errors', async () => {
      const btcClose = buildObservations('btcClose', [[DAY - 1, 50_000]]);
      const down: Partial<Feed> = { spot: () => Promise.reject(new Error('database down')) };
      await expect(buildReportBody(btcPriceReport, AT, { btcClose }, down)).rejects.toThrow('database down');
    });
  });
});

describe('fear greed', () => {
  const DAY = 20_000;
  const AT = toInstantMs(DAY, 10);

  /** 20 long ago, 40 within the month, 60 within the week, 80 today. */
  const value = (day: number) => (day === DAY ? 80 : day > DAY - 7 ? 60 : day > DAY - 30 ? 40 : 20);

  describe('Fear & Greed report', () => {
    it('returns label, past values and averages', async () => {
      const body = await buildReportBody(fearGreedReport, AT, {
        fearGreed: buildObservations('fearGreed', buildDailyPairs(DAY - 90, DAY, value)),
      });
      expect(body).toMatchObject({
        value: 80,
        classification: 'Extreme Greed',
        label: 'Extreme Greed',
        date: formatDay(DAY),
        yesterday: { value: 60, label: 'Greed' },
        weekAgo: { value: 40, label: 'Fear' },
        // (80 + 6 * 60) / 7 and (80 + 6 * 60 + 23 * 40) / 30.
        average7d: 62.9,
        average30d: 45.3,
        timestamp: new Date(toInstantMs(DAY)).toISOString(),
        ageSeconds: 36_000,
        stale: false,
        inputs: [{ series: 'fearGreed', source: 'test fearGreed', lastObserved: formatDay(DAY), ageDays: 0, stale: false }],
      });
    });

    it('keeps the last value, marked stale', async () => {
      const body = await buildReportBody(fearGreedReport, AT, {
        fearGreed: buildObservations('fearGreed', buildDailyPairs(DAY - 90, DAY - 4, value)),
      });
      expect(body).toMatchObject({ value: 60, date: formatDay(DAY - 4), stale: true });
      expect(body.inputs).toMatchObject([{ ageDays: 4, stale: true }]);
    });

    it('is null before the first value, without reading a price', async () => {
      const body = await buildReportBody(fearGreedReport, AT, {}, { spot: () => Promise.reject(new Error('unexpected read')) });
      expect(body).toMatchObject({
        success: true,
        value: null,
        classification: null,
        label: null,
        date: null,
        yesterday: { value: null, label: null },
        average7d: null,
        timestamp: null,
        ageSeconds: null,
        stale: true,
      });
    });
  });
});

describe('sth pnl ratio', () => {
  const DAY = 20_000;
  const NOON = toInstantMs(DAY, 12);
  const btcClose = buildObservations(
    'btcClose',
    buildDailyPairs(DAY - 100, DAY - 1, (day) => (day > DAY - 20 ? 90_000 : 60_000)),
  );

  describe('short-term holder report', () => {
    it('returns the close over the realized price of the same day', async () => {
      const sthRealizedPrice = buildObservations(
        'sthRealizedPrice',
        buildDailyPairs(DAY - 100, DAY - 2, (day) => (day > DAY - 20 ? 100_000 : 80_000)),
      );
      const realizedPrice = buildObservations('realizedPrice', [[DAY - 3, 45_000]]);
      expect(await buildReportBody(sthPnlRatioReport, NOON, { btcClose, sthRealizedPrice, realizedPrice })).toMatchObject({
        price: 90_000,
        date: formatDay(DAY - 2),
        sthRealizedPrice: 100_000,
        ratio: 0.9,
        profitLossPct: -10,
        // 0.75 thirty days before.
        change30d: 0.15,
        reason: null,
        market: { price: 90_000, date: formatDay(DAY - 3), realizedPrice: 45_000, mvrv: 2, reason: null },
        stale: false,
      });
    });

    it('is null with a reason without the series', async () => {
      const realizedPrice = buildObservations('realizedPrice', [[DAY - 1, 45_000]]);
      const body = await buildReportBody(sthPnlRatioReport, NOON, { btcClose, realizedPrice });
      expect(body).toMatchObject({
        price: null,
        ratio: null,
        profitLossPct: null,
        change30d: null,
        reason: 'Realized price of short-term holders: test sthRealizedPrice',
        market: { mvrv: 2 },
        stale: true,
      });
    });

    it('is null with a reason without a close of the same day', async () => {
      const sthRealizedPrice = buildObservations('sthRealizedPrice', [[DAY - 200, 80_000]]);
      const body = await buildReportBody(sthPnlRatioReport, NOON, { btcClose, sthRealizedPrice });
      expect(body.reason).toBe(
        `Realized price of short-term holders: no daily close of the same day; the last is of ${formatDay(DAY - 1)}`,
      );
    });
  });
});
