import { describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { etfFlowsReport } from '../../../../../src/market/reports/etf.ts';
import { buildDailyPairs, buildObservations } from '../../memory-feed.ts';
import { buildReportBody } from '../report-body.ts';

const DAY = 20_000;
const NOON = toInstantMs(DAY, 12);

describe('ETF flows', () => {
  it('are sums of 7 and 30 calendar days in USD, under both names', async () => {
    const flows = buildDailyPairs(DAY - 60, DAY, (day) => (day === DAY - 1 ? -3.3 : 0.1));
    expect(await buildReportBody(etfFlowsReport, NOON, { etfFlow: buildObservations('etfFlow', flows) })).toMatchObject({
      // 6 and 29 days of 0.1 million, and one of -3.3: the windows end with the last reported day, today has none yet.
      flow7d: -2_700_000,
      flows7d: -2_700_000,
      flow30d: -400_000,
      flows30d: -400_000,
      lastDay: -3_300_000,
      lastDayDate: formatDay(DAY - 1),
      provisional: false,
      stale: false,
    });
  });

  it('are provisional before publication', async () => {
    const etfFlow = buildObservations('etfFlow', [[DAY - 1, 7]], () => toInstantMs(DAY, 3));
    const body = await buildReportBody(etfFlowsReport, NOON - 1, { etfFlow });
    expect(body).toMatchObject({ lastDay: 7_000_000, flow7d: 7_000_000, provisional: true });
    expect(body.inputs).toMatchObject([{ provisional: true }]);
  });

  it('end with the last known day once stale', async () => {
    const etfFlow = buildObservations(
      'etfFlow',
      buildDailyPairs(DAY - 100, DAY - 50, () => 1),
    );
    expect(await buildReportBody(etfFlowsReport, NOON, { etfFlow })).toMatchObject({ flow7d: 7_000_000, flow30d: 30_000_000, stale: true });
  });

  it('are null without observations', async () => {
    expect(await buildReportBody(etfFlowsReport, NOON, {})).toMatchObject({
      flow7d: null,
      flows30d: null,
      lastDay: null,
      lastDayDate: null,
    });
  });
});
