import { describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { toInstantMs } from '../../../../../src/forecast/day.ts';
import type { Feed } from '../../../../../src/market/feed.ts';
import { btcPriceReport } from '../../../../../src/market/reports/bitcoin.ts';
import { buildObservations } from '../../memory-feed.ts';
import { buildReportBody, QUARTER_HOUR_MS } from '../report-body.ts';

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
