import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { macroCorrelationReport } from '../../../../../src/market/reports/macro.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { buildReportBody } from '../report-body.ts';

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
