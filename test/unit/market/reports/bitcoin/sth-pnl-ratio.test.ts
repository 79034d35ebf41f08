import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { sthPnlRatioReport } from '../../../../../src/market/reports/bitcoin.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { buildReportBody } from '../report-body.ts';

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
    expect(body.reason).toBe(`Realized price of short-term holders: no daily close of the same day; the last is of ${formatDay(DAY - 1)}`);
  });
});
