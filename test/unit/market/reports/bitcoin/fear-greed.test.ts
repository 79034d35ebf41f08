import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { fearGreedReport } from '../../../../../src/market/reports/bitcoin.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { buildReportBody } from '../report-body.ts';

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
